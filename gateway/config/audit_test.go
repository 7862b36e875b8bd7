package config

import "testing"

func TestWrongAudit(t *testing.T) {
	const bytes = `this must be a size of 1kB to 1000GB, such as "100MB"; units are B, kB, MB and GB`
	for _, tc := range []struct{ audit, want string }{
		{`true`, "f:1:21: gateway.audit: this must be an object, not true or false"},
		{`{}`, `f:1:21: gateway.audit: the audit log needs a file; write {"file": "audit.jsonl"}`},
		{`{"fil":"x"}`, `f:1:21: gateway.audit: the audit log needs a file; write {"file": "audit.jsonl"}` +
			"\nf:1:28: gateway.audit.fil: this key is not known; did you mean file?"},
		{`{"file":""}`, "f:1:29: gateway.audit.file: this must be the path of a file, such as audit.jsonl"},
		{`{"file":"logs/"}`, "f:1:29: gateway.audit.file: this must be the path of a file, such as audit.jsonl"},
		{`{"file":"x","arguments":"all"}`, `f:1:45: gateway.audit.arguments: "all" is not known; write none, digest or full`},
		{`{"file":"x","results":true}`, "f:1:43: gateway.audit.results: this must be text in quotes, not true or false"},
		{`{"file":"x","maxSize":100}`, `f:1:43: gateway.audit.maxSize: this must be a size with its unit, such as "100MB", not a number`},
		{`{"file":"x","maxSize":"10"}`, "f:1:43: gateway.audit.maxSize: " + bytes},
		{`{"file":"x","maxSize":"10 B"}`, "f:1:43: gateway.audit.maxSize: " + bytes},
		{`{"file":"x","maxSize":"99999999999GB"}`, "f:1:43: gateway.audit.maxSize: " + bytes},
		{`{"file":"x","keep":0}`, "f:1:40: gateway.audit.keep: this must be from 1 to 1000"},
		{`{"file":"x","onFailure":"block"}`, `f:1:45: gateway.audit.onFailure: "block" is not known; write drop or refuse`},
	} {
		c, err := read(`{"gateway":{"audit":` + tc.audit + `},"mcpServers":{}}`)
		if c != nil || err == nil || err.Error() != tc.want {
			t.Errorf("%s: got %v and\n%v\nwant\n%s", tc.audit, c, err, tc.want)
		}
	}
}

func TestSizes(t *testing.T) {
	for in, want := range map[string]string{"1000B": "1kB", "1500 kb": "1500kB", "2000MB": "2GB", "1001b": "1001B", "1000GB": "1000GB"} {
		c, err := read(`{"gateway":{"audit":{"file":"x","maxSize":"` + in + `"}},"mcpServers":{}}`)
		if err != nil || size(c.Audit.MaxSize) != want {
			t.Errorf("%s: %v, %v", in, c, err)
		}
	}
}

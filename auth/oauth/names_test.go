package oauth

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
)

// nameServer answers all look-ups of names until the test ends. There is one address for a name, and no other names.
func nameServer(t *testing.T, names map[string]string) {
	before := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = before })
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() { // ends when the resolver closes its side
			defer ours.Close()
			for {
				size := make([]byte, 2)
				if _, err := io.ReadFull(ours, size); err != nil {
					return
				}
				question := make([]byte, binary.BigEndian.Uint16(size))
				if _, err := io.ReadFull(ours, question); err != nil {
					return
				}
				answer := answerName(question, names)
				if _, err := ours.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)); err != nil {
					return
				}
			}
		}()
		return theirs, nil
	}}
}

// answerName answers one question of DNS. RFC 1035, section 4.1.
func answerName(question []byte, names map[string]string) []byte {
	var labels []string
	at := 12
	for n := int(question[at]); n != 0; n = int(question[at]) {
		labels = append(labels, string(question[at+1:at+1+n]))
		at += 1 + n
	}
	end := at + 5 // the zero, the type and the class
	address, known := names[strings.Join(labels, ".")]
	out := append([]byte{question[0], question[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, question[12:end]...)
	switch {
	case !known:
		out[3] |= 3 // no such name
	case question[at+2] == 1: // an IPv4 address is wanted
		addr := netip.MustParseAddr(address).As4()
		out[7] = 1
		out = append(out, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
		out = append(out, addr[:]...)
	}
	return out
}

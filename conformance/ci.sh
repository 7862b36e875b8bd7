#!/usr/bin/env bash
# Builds and starts the everything-server on a free port and runs the official suite against it: both requirement sets,
# and what applies to 2025-06-18, then each scenario of the sets alone. Then the everything-client likewise, with what
# applies to 2025-03-26 as well. Prints a line for each scenario that needs a look and the totals of each run.
#
# The exit code is 0 when every failure and warning stands in known-gaps.yml and every entry there still fails, 1 when not, 2 when
# the suite could not be run. Without node_modules (npm ci) it says that it skips and ends with 0, or with 1 where
# RIALTO_REQUIRE_PEERS=1 demands the peers.
set -euo pipefail
cd "$(dirname "$0")"

if [ ! -d node_modules ]; then
	if [ "${RIALTO_REQUIRE_PEERS:-}" = 1 ]; then
		echo "conformance: the suite is not installed, and RIALTO_REQUIRE_PEERS=1 demands it; run npm ci in conformance/" >&2
		exit 1
	fi
	echo "SKIPPED: the conformance suite is not installed; run npm ci in conformance/ to run it" >&2
	exit 0
fi

scratch=$(mktemp -d)
server=
clients=
finish() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	[ -z "$clients" ] || kill "$clients" 2>/dev/null || true
	rm -rf "$scratch"
}
trap finish EXIT

go build -o "$scratch/server" ./server
go build -o "$scratch/client" ./client
"$scratch/server" -addr 127.0.0.1:0 2>"$scratch/log" &
server=$!

url=
for _ in $(seq 100); do
	url=$(sed -n 's/^listening on //p' "$scratch/log")
	[ -z "$url" ] || break
	kill -0 "$server" 2>/dev/null || break
	sleep 0.1
done
if [ -z "$url" ]; then
	echo "conformance: the server did not start:" >&2
	cat "$scratch/log" >&2
	exit 2
fi

node=node_modules/node/bin/node
code=0
run() { # FILE LEG ...: keeps the worst result
	local result=0
	"$node" "$@" || result=$?
	[ "$result" -le "$code" ] || code=$result
}
client_leg() {
	for revision in 2025-03-26 2025-06-18 2025-11-25 2026-07-28; do
		echo "-- client, $revision"
		run run.mjs client --command "$scratch/client" --revision "$revision"
	done
	for revision in 2025-11-25 2026-07-28; do
		run alone.mjs client --command "$scratch/client" --revision "$revision"
	done
	while read -r revision scenario; do # of no set
		run alone.mjs client --command "$scratch/client" --revision "$revision" --scenario "$scenario"
	done <<-END
		2025-03-26 auth/2025-03-26-oauth-metadata-backcompat
		2025-03-26 auth/2025-03-26-oauth-endpoint-fallback
		2026-07-28 sep-2640-client-no-prefetch
		2026-07-28 sep-2640-client-verify-digest
		2026-07-28 sep-2640-client-verify-size
		2026-07-28 sep-2640-client-verify-frontmatter
	END
	exit "$code"
}
echo "-- the tools of this folder"
"$node" --test --test-reporter=dot >"$scratch/tools" 2>&1 || {
	cat "$scratch/tools"
	code=1
}
for revision in 2025-06-18 2025-11-25 2026-07-28; do
	echo "-- server, $revision"
	run run.mjs server --url "$url" --revision "$revision"
done
client_leg >"$scratch/clients" 2>&1 & # beside the scenarios of the server, which wait more than they work
clients=$!
for revision in 2025-11-25 2026-07-28; do
	run alone.mjs server --url "$url" --revision "$revision"
done
kill "$server"
wait "$server" || {
	echo "FAILED  the server ended with code $? when it was told to stop"
	[ "$code" != 0 ] || code=1
}
server=
if [ "$code" != 0 ]; then
	echo "-- what the server logged"
	tail -n 40 "$scratch/log"
fi
wait "$clients" || {
	result=$?
	[ "$result" -le "$code" ] || code=$result
}
clients=
cat "$scratch/clients"
exit "$code"

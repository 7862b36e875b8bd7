// Package seal makes the states that travel through a client and come back with its retry: sealed so that the client can
// neither read nor change them, bound to the call they were made for, and short-lived.
//
// A [Sealer] turns a payload into a token and back. What a token is bound to, a [Binding], is checked when it is opened:
// the server (its option), the principal, the method and the digest of name and arguments. What it carries, a [Link],
// comes back with the payload: the chain of runs it belongs to and the round. A [Record] is the payload the server
// uses. A token that is larger than the limit is refused before anything is sent, or its content moves to a [StateStore]
// and the token becomes a reference to it. [Opened.Use] makes a token good for one use.
//
// # The seal
//
// AES-256-GCM with a random nonce, under a key of its own for each token: HKDF-SHA-256 over the key of the ring and a
// random salt of 128 bits. One key of the ring may therefore seal as many tokens as it likes: salt and nonce together
// are 224 random bits, where a nonce of 96 bits alone would wear the key out after some 2^32 tokens, a number that replicas
// cannot count together. Both primitives are the standard library's, and this form of them is allowed in FIPS 140 mode.
//
//	token    "rs1." base64url( key id 8 | salt 16 | nonce 12 | sealed content | tag 16 ), no padding
//	content  kind 1 | expiry 8, ms | round 2 | chain 16 | server 16 | principal 16 | method 16 | arguments 32 | payload
//
// The version and everything before the nonce are authenticated too. The key id is derived from the key by a one-way
// function, so it tells nothing but which tokens share a key. The names of the binding are kept as hashes: a token has the
// same size whoever it is for.
//
// # Refusals
//
// Every refusal is [ErrInvalid] with one text, whatever the cause; the [Reason] is for the log. A token of an unknown key is
// still opened, under a key nobody has, and of what is inside every part is compared before the verdict, so time tells no
// more than the text. Only a token that fits in all respects makes the store be asked.
//
// # The digest
//
// [DigestCall] hashes a canonical form of method, `name` or `uri`, and `arguments`, so that a retry may write the same values
// in another way: members sorted, strings minimally escaped, numbers as exact decimals. 1, 1.0 and 1e0 agree, 2^53 and
// 2^53+1 differ. Containers whose form is long enter the form around them as a hash, so that each byte is hashed
// once however deep it lies.
//
// The package starts no goroutine and reads no clock of its own but in [MemoryStates] and [MemoryNonces]. Everything may be
// used concurrently.
package seal

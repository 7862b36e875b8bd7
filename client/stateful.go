package client

// Stateful tells whether the server knows this connection by a handshake, and keeps with it what belongs to the client: what
// it has declared, its log level, what it has subscribed to. Otherwise each request says all of that. Users who share a
// connection with state share the state; without, they share nothing. It is false before the first connection.
func (c *Client) Stateful() bool { return c.traits().Handshake }

// Package shape is what an operator says of the lists of servers: what of them is shown, under which titles, and with which
// arguments. All of it is pure: lists go in, other lists come out, and a step on the way of a call turns the arguments that
// clients know into those that the server takes.
//
// What is left out does not exist for clients: it is not listed, cannot be called, and a resource that no list names cannot be
// read. What an operator says of a tool that does not fit it (an argument that its schema does not have, say) hides the tool,
// since it cannot be shown as it was meant to be; [Plan.Notes] says so.
package shape

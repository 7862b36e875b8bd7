package state

import (
	"bytes"
	"context"
	"crypto/rand"
	"strings"
	"sync"
)

// answers begins every topic that an answer goes to, so that no question can have its answer sent to another.
const answers = "answer/"

// Ask publishes a question to a topic and waits for the answer of who serves it with [Answer], as a rule the replica that
// owns something. It fails with [ErrNobody] when the bus knows that nobody is there, and with the cause of ctx: a question
// or an answer may be lost, so ctx needs a deadline. A question that failed may have been acted on all the same.
func Ask(ctx context.Context, bus Bus, topic string, question []byte) ([]byte, error) {
	const operation = "ask over the bus"
	back := answers + rand.Text()
	sub, err := bus.Subscribe(ctx, back)
	if err != nil {
		return nil, failed(operation, err)
	}
	defer sub.Close()
	heard, err := bus.Publish(ctx, topic, append([]byte(back+"\n"), question...)) // no topic holds a line break
	if err == nil && heard == 0 {
		err = ErrNobody
	}
	if err != nil {
		return nil, failed(operation, err)
	}
	m, err := sub.Next(ctx)
	if err != nil {
		return nil, failed(operation, err)
	}
	return m.Data, nil
}

// MaxAnswering is how many questions one [Answer] works on at once. The others wait in its subscription.
const MaxAnswering = 64

// AnswerOptions are the hooks of [Answer]. The zero value is ready to use.
type AnswerOptions struct {
	// Started is called once the topic is subscribed to: questions asked from then on are heard.
	Started func()

	// OnError is told of answers that the bus did not take, since it was closed or they are too large. It may be called
	// concurrently.
	OnError func(error)
}

// Answer serves the questions that [Ask] puts to a topic. reply may be called concurrently and must heed its context;
// what it returns goes to who asked, and with false nothing does. Answer returns after the last reply has, with the error
// that ended it: the cause of ctx, or that of the bus.
func Answer(ctx context.Context, bus Bus, topic string, reply func(ctx context.Context, question []byte) ([]byte, bool), opts AnswerOptions) error {
	sub, err := bus.Subscribe(ctx, topic)
	if err == nil {
		defer sub.Close()
		if opts.Started != nil {
			opts.Started()
		}
		err = answerAll(ctx, sub, func(ctx context.Context, back string, question []byte) {
			answer, ok := reply(ctx, question)
			if !ok {
				return
			}
			if _, err := bus.Publish(ctx, back, answer); err != nil && opts.OnError != nil {
				opts.OnError(failed("send an answer", err))
			}
		})
	}
	return failed("answer over the bus", err)
}

// answerAll calls reply for each question, up to MaxAnswering at once, and waits for them in the end.
func answerAll(ctx context.Context, sub Subscription, reply func(ctx context.Context, back string, question []byte)) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	places := make(chan struct{}, MaxAnswering)
	for {
		select { // a place first: a question that waits in the subscription counts against its limits
		case places <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		back, question, err := nextQuestion(ctx, sub)
		if err != nil {
			return err
		}
		running.Go(func() { // ends with reply, whose context ends here at the latest
			defer func() { <-places }()
			reply(ctx, back, question)
		})
	}
}

// nextQuestion waits for a question. What Ask has not sent is passed over.
func nextQuestion(ctx context.Context, sub Subscription) (back string, question []byte, err error) {
	for {
		m, err := sub.Next(ctx)
		if err != nil {
			return "", nil, err
		}
		head, question, ok := bytes.Cut(m.Data, []byte{'\n'})
		if back := string(head); ok && strings.HasPrefix(back, answers) && validName(back) {
			return back, question, nil
		}
	}
}

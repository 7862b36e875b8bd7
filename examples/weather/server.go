package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// newServer builds the server. It serves any number of clients, of both eras, at once.
func newServer(opts server.Options) *server.Server {
	opts.Instructions = "Weather for a few cities. The tool forecast looks ahead, the resources tell how it is now."
	s := server.New(mcp.Implementation{Name: "weather", Title: "Weather", Version: "1.0.0"}, opts)

	server.AddTool(s, mcp.Tool{Name: "forecast", Description: "Weather of the next days in a city"}, forecast)

	s.AddResourceTemplate(mcp.ResourceTemplate{
		URITemplate: nowTemplate, Name: "now", Description: "How the weather is now", MIMEType: "text/plain",
	}, now)
	s.CompleteTemplate(nowTemplate, "city", completeCity)

	s.AddPrompt(mcp.Prompt{
		Name: "pack", Description: "Asks what to pack for a journey",
		Arguments: []mcp.PromptArgument{{Name: "city", Description: "where the journey goes", Required: true}},
	}, pack)
	s.CompletePrompt("pack", "city", completeCity)
	return s
}

// Query is what the tool takes. The schema that clients see is inferred from it, and arguments are checked against that.
type Query struct {
	City string `json:"city" jsonschema:"name of the city"`
	Days int    `json:"days,omitempty" jsonschema:"how many days, from 1 to 7; 3 when left out"`
}

// Forecast is what the tool returns: as structured content, and as text for clients that know no other.
type Forecast struct {
	City string `json:"city"`
	Days []Day  `json:"days" jsonschema:"today first"`
}

// Day is the weather of one day.
type Day struct {
	Sky  string `json:"sky"`
	High int    `json:"high" jsonschema:"degrees Celsius"`
}

// forecast asks the station for each day, and says how far it has come.
func forecast(ctx context.Context, req *server.Request, in Query) (Forecast, error) {
	station, ok := stations[strings.ToLower(in.City)]
	if !ok {
		return Forecast{}, fmt.Errorf("there is no station in %q; try one of %s", in.City, strings.Join(cities(), ", "))
	}
	days := in.Days
	if days == 0 {
		days = 3
	}
	if days < 1 || days > len(station.week) {
		return Forecast{}, fmt.Errorf("days is %d; ask for 1 to %d", days, len(station.week))
	}
	out := Forecast{City: station.city}
	for i := range days {
		day, err := station.ask(ctx, i)
		if err != nil {
			return Forecast{}, err
		}
		out.Days = append(out.Days, day)
		req.Progress(ctx, float64(i+1), float64(days), fmt.Sprintf("day %d of %d", i+1, days))
	}
	req.Log(ctx, mcp.LevelInfo, "stations", fmt.Sprintf("%s answered in good time", station.city))
	return out, nil
}

const nowTemplate = "weather://{city}/now"

// now reads a resource of the template. The client fills in vars: a handler looks them up, and never trusts them.
func now(ctx context.Context, req *server.Request, vars map[string]string) (*mcp.ReadResourceResult, error) {
	station, ok := stations[strings.ToLower(vars["city"])]
	if !ok {
		return nil, mcp.ResourceNotFound(req.Name())
	}
	day, err := station.ask(ctx, 0)
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("%s in %s, %d degrees", day.Sky, station.city, day.High)
	return &mcp.ReadResourceResult{
		Contents: []mcp.ResourceContents{mcp.TextResource(req.Name(), "text/plain", text)},
		Cache:    mcp.CacheFor(10*time.Minute, mcp.CachePublic),
	}, nil
}

// pack fills the prompt in.
func pack(_ context.Context, _ *server.Request, args map[string]string) (*mcp.GetPromptResult, error) {
	text := fmt.Sprintf("I travel to %s. Ask the tool forecast for the weather there, and tell me what to pack.", args["city"])
	return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text(text)}}}, nil
}

// completeCity suggests cities that begin with what has been typed.
func completeCity(_ context.Context, _ *server.Request, typed string, _ map[string]string) ([]string, error) {
	var out []string
	for _, city := range cities() {
		if strings.HasPrefix(strings.ToLower(city), strings.ToLower(typed)) {
			out = append(out, city)
		}
	}
	return out, nil
}

package mcp

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"brabo.dev/runner/runner/hub"
)

// commandInput is what run_command takes.
type commandInput struct {
	Command string `json:"command" jsonschema:"the command line, read as Bash text"`
	Cwd     string `json:"cwd,omitempty" jsonschema:"absolute folder to run in; the project's root when left out"`
	Seconds int    `json:"timeout_seconds,omitempty" jsonschema:"how long the command may take, from 1 to 86400"`
}

type writeInput struct {
	Path     string  `json:"path" jsonschema:"relative to the project's root"`
	Content  string  `json:"content" jsonschema:"the whole new content of the file, at most 4 MiB"`
	Expected *string `json:"expected_sha256,omitempty" jsonschema:"SHA-256 of what the file holds now, in lower-case hex; the write is refused when it holds something else"`
	Mode     string  `json:"mode,omitempty" jsonschema:"0644 or 0755; the file's own when left out"`
}

type commitInput struct {
	Message string   `json:"message" jsonschema:"the commit message"`
	Paths   []string `json:"paths,omitempty" jsonschema:"what to commit; everything that changed and is not ignored when left out"`
}

type branchInput struct {
	Name string `json:"name" jsonschema:"the new branch"`
	From string `json:"from,omitempty" jsonschema:"where it begins; the current commit when left out"`
}

type pushInput struct {
	Branch   string `json:"branch" jsonschema:"the one branch to push; never forced"`
	Remote   string `json:"remote,omitempty" jsonschema:"origin when left out"`
	Upstream bool   `json:"set_upstream,omitempty" jsonschema:"have the branch follow the remote one"`
}

type startInput struct {
	Image   string   `json:"image" jsonschema:"with a fixed tag or digest"`
	Network string   `json:"network,omitempty" jsonschema:"none or egress; none when left out"`
	CPUs    *float64 `json:"cpus,omitempty" jsonschema:"processors; the least that the project needs when left out"`
	Memory  *float64 `json:"memory_mb,omitempty" jsonschema:"MiB; the least that the project needs when left out"`
	PIDs    *int64   `json:"pids_limit,omitempty" jsonschema:"processes"`
}

type noInput struct{}

type statusInput struct {
	ID string `json:"id" jsonschema:"the action's id"`
}

// add puts the tools on a server.
func (t tools) add(s *mcp.Server) {
	mcp.AddTool(s, &mcp.Tool{Name: "run_command", Description: "Run a command on the user's machine, in the project, once it is approved; gives its output and exit code."},
		func(ctx context.Context, r *mcp.CallToolRequest, in commandInput) (*mcp.CallToolResult, Result, error) {
			return t.carry(ctx, r, hub.Proposal{Type: "terminal", Command: in.Command, Cwd: in.Cwd, DeadlineMs: int64(in.Seconds) * 1000})
		})
	mcp.AddTool(s, &mcp.Tool{Name: "write_file", Description: "Write a file in the project as a whole, once it is approved."},
		func(ctx context.Context, r *mcp.CallToolRequest, in writeInput) (*mcp.CallToolResult, Result, error) {
			params := map[string]any{"path": in.Path, "content": in.Content}
			if in.Expected != nil {
				params["expectedSha256"] = *in.Expected
			}
			if in.Mode != "" {
				params["mode"] = in.Mode
			}
			return t.typed(ctx, r, "write_file", params)
		})
	mcp.AddTool(s, &mcp.Tool{Name: "git_commit", Description: "Commit changes of the project, once it is approved."},
		func(ctx context.Context, r *mcp.CallToolRequest, in commitInput) (*mcp.CallToolResult, Result, error) {
			params := map[string]any{"message": in.Message}
			if len(in.Paths) > 0 {
				params["paths"] = in.Paths
			}
			return t.typed(ctx, r, "git_commit", params)
		})
	mcp.AddTool(s, &mcp.Tool{Name: "git_branch_create", Description: "Make a branch in the project, once it is approved."},
		func(ctx context.Context, r *mcp.CallToolRequest, in branchInput) (*mcp.CallToolResult, Result, error) {
			params := map[string]any{"name": in.Name}
			if in.From != "" {
				params["from"] = in.From
			}
			return t.typed(ctx, r, "git_branch_create", params)
		})
	mcp.AddTool(s, &mcp.Tool{Name: "git_push", Description: "Push one branch of the project, once a person has approved it."},
		func(ctx context.Context, r *mcp.CallToolRequest, in pushInput) (*mcp.CallToolResult, Result, error) {
			params := map[string]any{"branch": in.Branch, "setUpstream": in.Upstream}
			if in.Remote != "" {
				params["remote"] = in.Remote
			}
			return t.typed(ctx, r, "git_push", params)
		})
	mcp.AddTool(s, &mcp.Tool{Name: "container_start", Description: "Start the project's container, in which commands then run, once it is approved."},
		func(ctx context.Context, r *mcp.CallToolRequest, in startInput) (*mcp.CallToolResult, Result, error) {
			return t.carry(ctx, r, hub.Proposal{Type: "container_start", Container: &hub.ContainerSpec{
				Image: in.Image, Network: in.Network, CPUs: in.CPUs, MemoryMiB: in.Memory, Pids: in.PIDs,
			}})
		})
	for name, what := range map[string]string{"container_stop": "Stop", "container_remove": "Remove"} {
		mcp.AddTool(s, &mcp.Tool{Name: name, Description: what + " the project's container, once it is approved."},
			func(ctx context.Context, r *mcp.CallToolRequest, _ noInput) (*mcp.CallToolResult, Result, error) {
				return t.carry(ctx, r, hub.Proposal{Type: name})
			})
	}
	mcp.AddTool(s, &mcp.Tool{Name: "action_status", Description: "Ask what became of an action that was proposed before."},
		func(ctx context.Context, _ *mcp.CallToolRequest, in statusInput) (*mcp.CallToolResult, Result, error) {
			a, err := t.o.Hub.Action(ctx, in.ID)
			if err != nil {
				return nil, Result{}, err
			}
			result := resultOf(a)
			return result.call(), result, nil
		})
}

// typed carries an action with parameters.
func (t tools) typed(ctx context.Context, r *mcp.CallToolRequest, kind string, params map[string]any) (*mcp.CallToolResult, Result, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, Result{}, err
	}
	return t.carry(ctx, r, hub.Proposal{Type: kind, Params: raw})
}

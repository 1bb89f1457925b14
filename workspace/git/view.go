package git

import (
	"context"
	"os"
	"path/filepath"

	"brabo.dev/runner/runner/failure"
)

// view is a repository with a configuration of ours in the place of its own: a folder that holds this, and links to
// the rest of what work trees share.
type view struct {
	repository
	g       Git
	folder  string
	config  []entry
	filters []string // further settings, for filters that are let through
}

// shared are the things in a common folder that git needs. What defines remotes beside the configuration (`remotes`,
// `branches`) and its part for one work tree (`config.worktree`) are none of them.
var shared = []string{"objects", "refs", "packed-refs", "logs", "info", "hooks", "worktrees", "reftable", "shallow", "modules", "lfs"}

// view makes the view of the repository at p, to write to. Its close has to be called.
func (g Git) view(ctx context.Context, p Place) (*view, error) { return g.look(ctx, p, true) }

// look is view, or makes one only to read.
func (g Git) look(ctx context.Context, p Place, writes bool) (*view, error) {
	r, err := find(p)
	if err != nil {
		return nil, err
	}
	folder, err := g.scratch()
	if err != nil {
		return nil, err
	}
	v := &view{repository: r, g: g, folder: folder}
	admitted := func() error { return nil }
	if writes {
		admitted = func() error { return v.refuseElsewhere(p.Roots) }
	}
	if err := v.make(ctx, admitted); err != nil {
		v.close()
		return nil, err
	}
	return v, nil
}

// make asks admitted once it has read the configuration, and before it changes anything.
func (v *view) make(ctx context.Context, admitted func() error) (err error) {
	if v.config, err = v.g.readConfig(ctx, v.repository, v.folder); err != nil {
		return err
	}
	if err := refuse(v.repository, v.config); err != nil {
		return err
	}
	if err := admitted(); err != nil {
		return err
	}
	v.admitLFS()
	cannot := func(err error) error {
		return failure.New(failure.GitFailed, v.tree).Because("its parts could not be put together: %v", err).Wrap(err)
	}
	if err := os.Mkdir(filepath.Join(v.common, "logs"), 0o755); err != nil && !os.IsExist(err) {
		return cannot(err)
	}
	for _, name := range shared {
		if err := os.Symlink(filepath.Join(v.common, name), filepath.Join(v.commonView(), name)); err != nil {
			return cannot(err)
		}
	}
	if err := writeConfig(filepath.Join(v.commonView(), "config"), v.config, v.g.Hooks); err != nil {
		return cannot(err)
	}
	return nil
}

// commonView stands in for the repository's common folder.
func (v *view) commonView() string { return v.folder }

func (v *view) close() { _ = os.RemoveAll(v.folder) } // links are removed, not what they lead to

// run runs git on the view.
func (v *view) run(ctx context.Context, c call) (Output, error) {
	c.dir = v.tree
	c.args = append(v.filters[:len(v.filters):len(v.filters)], c.args...)
	c.env = append(c.env, "GIT_DIR="+v.dir, "GIT_COMMON_DIR="+v.commonView(), "GIT_WORK_TREE="+v.tree)
	return v.g.run(ctx, c)
}

// must runs git on the view, and makes a failure of an exit code that is not 0.
func (v *view) must(ctx context.Context, args ...string) (string, error) {
	out, err := v.run(ctx, call{args: args})
	if err != nil {
		return "", err
	}
	if out.Code != 0 {
		return "", out.failure(args, v.tree)
	}
	return out.text(), nil
}

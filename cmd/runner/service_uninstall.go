package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/settings"
	"brabo.dev/runner/service"
)

func newServiceUninstall() *cobra.Command {
	var flags serviceFlags
	var purge bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Stop a service and remove its unit",
		Long: `uninstall stops the service and removes its unit. Keys, settings and state stay. --purge removes them too: for a project its
device key and brabo-runner.config.json in the folder that the unit records, for the machine the pairing, the settings and
the journal, for the hub its database and log. Keys stay registered on the server; runner logout revokes them.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serviceUninstall(cmd.Context(), flags, purge, cmd.OutOrStdout())
		},
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&purge, "purge", false, "remove keys, settings and state, too")
	return cmd
}

func serviceUninstall(ctx context.Context, flags serviceFlags, purge bool, out io.Writer) error {
	t, err := flags.target(ctx)
	if err != nil {
		return err
	}
	if !flags.named(t.src) {
		return serviceExit(failure.New(failure.Usage, "service uninstall").
			Because("nothing says which service to remove").Then("name it by --machine, --project or --hub"))
	}
	d, err := t.manager.Find(t.id)
	if err != nil {
		return serviceExit(err)
	}
	person := t
	if purge && d.System { // before anything is removed: afterwards nothing tells any more whose the rest is
		if person.src, err = sourcesOf(t.src, d.User); err != nil {
			return serviceExit(err)
		}
		person.manager = serviceManager(ctx, person.src)
	}
	uninstalled := t.manager.Uninstall(ctx, t.id)
	if uninstalled != nil && !failure.Is(uninstalled, failure.ServiceManagerSilent) {
		return serviceExit(uninstalled)
	}
	if uninstalled == nil {
		fmt.Fprintf(out, "removed %s\n", t.manager.Name(t.id))
	} else {
		fmt.Fprintf(out, "removed the unit of %s; the service manager did not answer, so what it started may still run\n", t.manager.Name(t.id))
	}
	if purge {
		if err := purgeService(person, d, out); err != nil {
			return errors.Join(serviceExit(uninstalled), err)
		}
	}
	return serviceExit(uninstalled)
}

// purgeService removes what the service leaves behind, of the person whom it served. What another installed service of
// ours needs stays.
func purgeService(t target, d service.Definition, out io.Writer) error {
	others := 0
	for _, system := range []bool{false, true} {
		others += len(t.manager.Installed(system))
	}
	folders := t.src.Folders()
	seen := settings.Sources{WorkDir: d.Folder}
	var paths []string
	switch d.Kind {
	case service.Hub:
		paths = []string{folders.Data, filepath.Dir(hubLogFolder(folders))}
	default:
		if path, _, _, ok := seen.ProjectFile(); ok {
			paths = append(paths, path)
		}
		paths = append(paths, seen.KeyFile())
		if others == 0 {
			paths = append(paths, folders.Config, folders.State)
		} else {
			fmt.Fprintf(out, "kept %s and %s: another service needs them\n", folders.Config, folders.State)
		}
	}
	remove := os.RemoveAll
	if d.System {
		remove = removeBelow(folders.Home)
	}
	var all []error
	for _, path := range paths {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := remove(path); err != nil {
			all = append(all, failure.New(failure.ServiceNotWritten, path).Because("it can't be removed: %v", err).
				Then("remove it by hand").Wrap(err))
			continue
		}
		fmt.Fprintf(out, "removed %s\n", path)
	}
	return errors.Join(all...)
}

// removeBelow removes paths of a person's home as an administrator: a link of that person's leads nowhere outside of it.
// A project's folder may lie elsewhere; there it is a file by its name that is removed, and no folder.
func removeBelow(home string) func(path string) error {
	return func(path string) error {
		real, err := filepath.EvalSymlinks(home)
		if err != nil {
			return err
		}
		folder, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return err
		}
		if rel, ok := localTo(real, filepath.Join(folder, filepath.Base(path))); ok {
			return inRoot(real, func(root *os.Root) error { return root.RemoveAll(rel) })
		}
		for _, name := range []string{home, real} {
			if _, ok := localTo(name, path); ok {
				return fmt.Errorf("a link leads it out of %s", home)
			}
		}
		return inRoot(folder, func(root *os.Root) error { return root.Remove(filepath.Base(path)) })
	}
}

// localTo is path as seen from folder, below which it has to lie.
func localTo(folder, path string) (rel string, ok bool) {
	rel, err := filepath.Rel(folder, path)
	return rel, err == nil && filepath.IsLocal(rel)
}

func inRoot(folder string, do func(*os.Root) error) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	return do(root)
}

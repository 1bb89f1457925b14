package main

import (
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/pairing"
)

func newDeviceKeyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "device-key",
		Short: "Make a device key for a server where somebody else registers it",
		Long: `device-key makes this machine's key in two steps, because the key carries the id that the server gives it:

  create   makes an Ed25519 key pair here, keeps the private half, and prints the public one (a JWK, one line) to register
  finish   puts the id of the registration into the private half, and prints the path of the finished key

The private half never leaves this machine. Without --dir the key lies in $XDG_CONFIG_HOME/brabo (else ~/.config/brabo). A
finished key is never replaced.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError(failure.New(failure.Usage, "device-key").Then("choose `create` or `finish`"))
			}
			return unknownCommand(cmd, args[0])
		},
	}
	cmd.AddCommand(newDeviceKeyCreateCommand(), newDeviceKeyFinishCommand())
	return cmd
}

func newDeviceKeyCreateCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:     "create",
		Short:   "Make a key pair, and print the public half",
		Example: `  PUBLIC=$(runner device-key create)`,
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, err := deviceKeyFolder(dir)
			if err != nil {
				return usageError(err)
			}
			public, replaced, err := pairing.CreateDeviceKey(folder)
			if err != nil {
				return usageError(err)
			}
			errOut := cmd.ErrOrStderr()
			if replaced {
				fmt.Fprintln(errOut, "A key that was begun earlier was replaced; if the server has its public half, revoke that registration.")
			}
			fmt.Fprintf(errOut, "The private half is in %s.\n", visible(filepath.Join(folder, pairing.PartialDeviceKeyName)))
			fmt.Fprintf(errOut, "Register the public half, and give its id to `runner device-key finish --id ID%s`.\n", dirFlag(dir, folder))
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", pairing.PublicJWK(public))
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "folder for the key (default: where the existing client keeps its base)")
	return cmd
}

func newDeviceKeyFinishCommand() *cobra.Command {
	var dir, id string
	cmd := &cobra.Command{
		Use:     "finish",
		Short:   "Put the id of its registration into the key, and print where the key is",
		Example: `  runner device-key finish --id "$ID"`,
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, err := deviceKeyFolder(dir)
			if err != nil {
				return usageError(err)
			}
			path, err := pairing.FinishDeviceKey(folder, id)
			if err != nil {
				return usageError(err)
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "The key is complete. A daemon uses it that is started in its folder.")
			_, err = fmt.Fprintln(cmd.OutOrStdout(), path)
			return err
		},
	}
	cmd.Flags().StringVar(&id, "id", "", "id that the server gave the public half")
	cmd.Flags().StringVar(&dir, "dir", "", "folder of the key (default: where the existing client keeps its base)")
	return cmd
}

// deviceKeyFolder is the folder that --dir names, else the usual one; on Linux it must lie at or below home, where the
// user's own service finds it (protocol.md 2.3 and 7.1).
func deviceKeyFolder(dir string) (string, error) {
	src, err := processSources()
	if err != nil {
		return "", err
	}
	switch {
	case dir == "":
		dir = src.DeviceKeyFolder()
	case !filepath.IsAbs(dir):
		dir = filepath.Join(src.EffectiveDir(), dir)
	}
	dir = filepath.Clean(dir)
	home := src.Folders().Home
	if rel, err := filepath.Rel(home, dir); runtime.GOOS == "linux" && (err != nil || !filepath.IsLocal(rel)) {
		return "", failure.New(failure.DeviceKeyFolder, dir).Because("the folder does not lie below the home folder %s", home)
	}
	return dir, nil
}

// dirFlag repeats --dir for the next command where it was given.
func dirFlag(given, folder string) string {
	if given == "" {
		return ""
	}
	return " --dir " + visible(folder)
}

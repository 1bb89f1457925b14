package containerctl

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/moby/moby/client"
)

// link puts a symbolic link at the host path of the project folder that points to the mount, so that absolute host
// paths in a command's text resolve inside too (protocol.md 12, last paragraph). It goes through the archive API and
// needs nothing of the image. The note says why there is no link; an error means that the engine could not be asked.
func (e *Engine) link(ctx context.Context, id, name, root string) (note string, err error) {
	if isWindows(root) {
		return "", nil // no path inside could be spelt like that
	}
	root = path.Clean(root)
	if root == MountPoint {
		return "", nil
	}
	if _, inside := below(MountPoint, root); inside {
		// The archive API would follow the mount and write into the project folder itself.
		return fmt.Sprintf("host paths do not resolve inside: %s would lie in the mount", root), nil
	}
	archive, err := linkArchive(root)
	if err != nil {
		return "", e.named(ctx, err, name)
	}
	_, err = e.api.CopyToContainer(ctx, id, client.CopyToContainerOptions{DestinationPath: "/", Content: archive})
	if err == nil {
		return "", nil
	}
	if isGone(err) || ctx.Err() != nil || isLost(err) {
		return "", e.named(ctx, err, name)
	}
	return fmt.Sprintf("host paths do not resolve inside: %s is something else in this image (%s)", root, words(err)), nil
}

// linkArchive is a tar with nothing but the link. Engines make the folders above it that are missing, with mode 0755;
// those that exist must not stand in the archive, since their mode would become the archive's.
func linkArchive(root string) (*bytes.Buffer, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	if err := w.WriteHeader(&tar.Header{
		Typeflag: tar.TypeSymlink, Name: strings.TrimPrefix(root, "/"), Linkname: MountPoint, Mode: 0o777,
	}); err != nil {
		return nil, fmt.Errorf("writing the link at %s into an archive: %w", root, err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("closing an archive: %w", err)
	}
	return &buf, nil
}

package containerctl

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/moby/moby/client"
)

// plainImages are the last parts of the names of images that are known to hold a shell and sleep and nothing that
// starts by itself.
var plainImages = []string{"busybox", "alpine", "debian", "ubuntu"}

// PlainImage names the smallest image of a well-known plain system that the engine has already, by a tag that a Spec
// may name; empty where there is none. Nothing is pulled.
func (e *Engine) PlainImage(ctx context.Context) (string, error) {
	listed, err := e.api.ImageList(ctx, client.ImageListOptions{})
	if err != nil {
		return "", e.named(ctx, err, "the list of images")
	}
	best, size := "", int64(0)
	for _, image := range listed.Items {
		for _, tag := range image.RepoTags {
			name, version, found := strings.Cut(path.Base(tag), ":")
			plain := found && version != "latest" && slices.Contains(plainImages, name)
			if plain && (best == "" || image.Size < size) {
				best, size = tag, image.Size
			}
		}
	}
	return best, nil
}

package logs

import (
	"context"
	"io"
	"path/filepath"
	"sync"

	"github.com/nxadm/tail"

	"brabo.dev/runner/runner/failure"
)

// Follow calls show for each line that comes to the folders' logs from f.Ends, or from now on, and is chosen, one at a time, across
// rotations, until ctx ends. A log that is not there yet is waited for. Since and Last of f do not count.
func Follow(ctx context.Context, folders []string, f Filter, show func(Entry)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex // one line at a time
	var following sync.WaitGroup
	for _, folder := range folders {
		from := tail.SeekInfo{Whence: io.SeekEnd}
		if end, ok := f.Ends[folder]; ok {
			from = tail.SeekInfo{Offset: end, Whence: io.SeekStart}
		}
		t, err := tail.TailFile(filepath.Join(folder, FileName), tail.Config{
			Location: &from, ReOpen: true, Follow: true, Poll: true, CompleteLines: true,
			Logger: tail.DiscardingLogger,
		})
		if err != nil {
			cancel()
			following.Wait()
			return failure.New(failure.LogUnreadable, folder).Wrap(err)
		}
		following.Go(func() {
			defer t.Cleanup()
			defer func() { _ = t.Stop() }() // it has ended, or ends now; nothing more is read
			for {
				select {
				case line, more := <-t.Lines:
					if !more {
						return
					}
					if e := parse(line.Text); line.Err == nil && f.wants(e) {
						mu.Lock()
						show(e)
						mu.Unlock()
					}
				case <-ctx.Done():
					return
				}
			}
		})
	}
	following.Wait()
	return nil
}

package logs

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brabo.dev/runner/runner/failure"
)

// Filter chooses lines.
type Filter struct {
	Since  time.Time  // zero: from the beginning
	Level  slog.Level // the lowest one; slog.LevelDebug: all
	Action string     // only lines about this ref; empty: all
	Last   int        // only so many, the last ones; zero: all
	Ends   Ends       // where reading ends and following begins; nil: at the end that is found
}

// Ends are how many bytes the newest file of each folder's log held at one moment.
type Ends map[string]int64

// EndsOf looks at the folders' logs now. Read and Follow with the same Ends show each line once, also one that comes
// between the two.
func EndsOf(folders []string) Ends {
	ends := make(Ends, len(folders))
	for _, folder := range folders {
		ends[folder] = 0
		if info, err := os.Stat(filepath.Join(folder, FileName)); err == nil {
			ends[folder] = info.Size()
		}
	}
	return ends
}

func (f Filter) wants(e Entry) bool {
	return e.Level >= f.Level && !e.Time.Before(f.Since) && (f.Action == "" || e.Attr("ref") == f.Action)
}

// maxLine is the longest line that is read, in bytes; what is longer is cut in pieces.
const maxLine = 1 << 20

// Read gives the chosen lines of the folders' files in the order of their times. Folders and files that are not there
// have none; one that can't be read is a LogUnreadable, and the lines of the others are given all the same.
func Read(folders []string, f Filter) ([]Entry, error) {
	var all []Entry
	var errs []error
	for _, folder := range folders {
		entries, err := readFolder(folder, f)
		all = append(all, entries...)
		errs = append(errs, err)
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return a.Time.Compare(b.Time) })
	if f.Last > 0 && len(all) > f.Last {
		all = all[len(all)-f.Last:]
	}
	return all, errors.Join(errs...)
}

// readFolder reads the newest file first, and stops when enough was found.
func readFolder(folder string, f Filter) ([]Entry, error) {
	files, err := filesOf(folder)
	if err != nil {
		return nil, err
	}
	var all []Entry
	for _, file := range slices.Backward(files) {
		most := int64(math.MaxInt64)
		if end, ok := f.Ends[folder]; ok && filepath.Base(file) == FileName {
			most = end
		}
		entries, err := readFile(file, most, f)
		if err != nil {
			return all, err
		}
		all = append(entries, all...)
		if f.Last > 0 && len(all) >= f.Last {
			break
		}
	}
	return all, nil
}

// filesOf lists the files of a log's folder, the oldest first: the time in the names of rotated files sorts as text.
func filesOf(folder string) ([]string, error) {
	listed, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, failure.New(failure.LogUnreadable, folder).Wrap(err)
	}
	var files []string
	current := false
	stem, ext := strings.TrimSuffix(FileName, filepath.Ext(FileName)), filepath.Ext(FileName)
	for _, entry := range listed {
		switch name := entry.Name(); {
		case name == FileName:
			current = true
		case strings.HasPrefix(name, stem+"-") && strings.HasSuffix(name, ext):
			files = append(files, filepath.Join(folder, name))
		}
	}
	slices.Sort(files)
	if current {
		files = append(files, filepath.Join(folder, FileName))
	}
	return files, nil
}

// readFile reads at most so many bytes.
func readFile(path string, most int64, f Filter) ([]Entry, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // rotated away meanwhile
	}
	if err != nil {
		return nil, failure.New(failure.LogUnreadable, path).Wrap(err)
	}
	defer file.Close()
	var entries []Entry
	lines := bufio.NewReaderSize(io.LimitReader(file, most), maxLine)
	for {
		line, err := lines.ReadSlice('\n')
		if text := strings.TrimRight(string(line), "\r\n"); text != "" {
			if e := parse(text); f.wants(e) {
				entries = append(entries, e)
			}
		}
		switch {
		case err == nil, errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return entries, nil
		default:
			return entries, failure.New(failure.LogUnreadable, path).Wrap(err)
		}
	}
}

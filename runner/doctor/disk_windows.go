package doctor

import "golang.org/x/sys/windows"

// freeBytes is how much room this user has on the disk that holds path.
func freeBytes(path string) (uint64, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	var free uint64
	return free, windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
}

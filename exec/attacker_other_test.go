//go:build !linux

package exec

func attack([]string) int { return 1 }

func withoutLandlock([]string) int { return 1 }

func heldBetween([]string) int { return 1 }

func tracer([]string) int { return 1 }

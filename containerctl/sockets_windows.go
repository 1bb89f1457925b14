package containerctl

var systemSockets = []string{
	"npipe:////./pipe/docker_engine",
	"npipe:////./pipe/dockerDesktopLinuxEngine",
	"npipe:////./pipe/podman-machine-default",
}

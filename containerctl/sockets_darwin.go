package containerctl

var systemSockets = []string{"unix:///var/run/docker.sock"}

{{/* What a pod can have only once by name or place, and extra values would add again: Kubernetes refuses it, or takes one of the two. */}}
{{- define "pipewright.doubles" -}}
{{- $faults := list -}}
{{- $daemon := dict "extraEnv: the variable" (list "name" (include "pipewright.env" .)) "extraVolumes, credentials or secrets: the volume" (list "name" (include "pipewright.volumes" .)) "extraVolumeMounts: the mount at" (list "mountPath" (include "pipewright.mounts" .)) -}}
{{- $containers := concat (list (dict "name" "pipewright")) (.Values.initContainers | default list) (.Values.extraContainers | default list) -}}
{{- if .Values.source.git.repository -}}
{{- $gitSync := index (include "pipewright.gitSync" . | fromYamlArray) 0 -}}
{{- $containers = append $containers $gitSync -}}
{{- $_ := set $daemon "source.git.extraEnv: the variable" (list "name" (toYaml $gitSync.env)) -}}
{{- $_ := set $daemon "source.git.extraVolumeMounts: the mount at" (list "mountPath" (toYaml $gitSync.volumeMounts)) -}}
{{- end -}}
{{- $_ := set $daemon "extraContainers or initContainers: the container" (list "name" (toYaml $containers)) -}}
{{- range $what, $list := $daemon -}}
{{- $seen := list -}}
{{- range index $list 1 | fromYamlArray -}}
{{- $name := get . (index $list 0) -}}
{{- if has $name $seen -}}
{{- $faults = append $faults (printf "%s %s would be in the pod twice. Leave out one of them." $what $name) -}}
{{- end -}}
{{- $seen = append $seen $name -}}
{{- end -}}
{{- end -}}
{{- toYaml $faults -}}
{{- end }}

{{/* Flags of git-sync that the chart gives it, and what to use instead. */}}
{{- define "pipewright.ownGitSyncFlags" -}}
repo: source.git.repository
ref: source.git.ref
depth: source.git.depth
submodules: source.git.submodules
period: source.git.period
root: what the chart gives, for Pipewright reads there
link: what the chart gives, for Pipewright reads there
http-bind: service.gitSyncPort, for the port that others see
username: source.git.token.username
password-file: source.git.token
ssh-key-file: source.git.ssh
ssh-known-hosts-file: source.git.ssh
{{- end }}

{{/* Settings that are not for the map `settings`, and what to use instead. */}}
{{- define "pipewright.ownedSettings" -}}
config: the values of the chart, which have every line of such a file
manifests: the values below source
base-url: platform.baseUrl
alerts-base-url: platform.alertsBaseUrl
alerts-token-file: platform.alertsToken
allow-insecure-http: platform.allowInsecureHttp
sandbox: platform.sandbox
credentials-dir: credentials
secrets-dir: secrets
ca-file: tls.ca
client-cert-file: tls.clientCertificate
client-key-file: tls.clientCertificate
ledger: the values below ledger
ledger-init: ledger.init
lease-duration: ledger.leaseDuration
listen: service.port, for the port that others see
metrics-listen: service.metricsPort, for the port that others see
allowed-hosts: allowedHosts
admin-token-file: adminToken
request-timeout: shutdown.requestTimeout
shutdown-grace: shutdown.grace
{{- end }}

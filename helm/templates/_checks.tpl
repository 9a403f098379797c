{{/*
What values.schema.json cannot say, or not in clear words. All faults at once, as Pipewright itself does it.
*/}}
{{- define "pipewright.checks" -}}
{{- $faults := list -}}
{{- $platform := .Values.platform -}}
{{- $git := .Values.source.git -}}

{{- if and (not $platform.baseUrl) (not $platform.sandbox) -}}
{{- $faults = append $faults "platform.baseUrl is not set. Say where the platform answers: --set platform.baseUrl=https://api.example.com (or, to try the chart without a platform, platform.sandbox=true)." -}}
{{- end -}}
{{- if and $platform.sandbox (or $platform.baseUrl $platform.alertsBaseUrl) -}}
{{- $faults = append $faults "platform.sandbox is on, and is a platform of its own: leave out platform.baseUrl and platform.alertsBaseUrl, or the sandbox." -}}
{{- end -}}
{{- range $name := list "baseUrl" "alertsBaseUrl" -}}
{{- $overPlain := and (hasPrefix "http:" (get $platform $name)) (not (regexMatch "^http://(localhost|127[.][0-9.]+|\\[::1\\])(:[0-9]+)?(/|$)" (get $platform $name))) -}}
{{- if and $overPlain (not $platform.allowInsecureHttp) -}}
{{- $faults = append $faults (printf "platform.%s is plain http:, so that everybody on the way could read the credentials. Give an https: URL; or, if the way is safe, platform.allowInsecureHttp=true." $name) -}}
{{- end -}}
{{- end -}}

{{- $sources := list -}}
{{- if $git.repository -}}{{- $sources = append $sources "source.git.repository" -}}{{- end -}}
{{- if .Values.source.configMap -}}{{- $sources = append $sources "source.configMap" -}}{{- end -}}
{{- if .Values.source.volume -}}{{- $sources = append $sources "source.volume" -}}{{- end -}}
{{- if eq (len $sources) 0 -}}
{{- $faults = append $faults "There is no source of manifests. Set one: source.git.repository, source.configMap or source.volume." -}}
{{- else if gt (len $sources) 1 -}}
{{- $faults = append $faults (printf "There is more than one source of manifests (%s). Set one." (join ", " $sources)) -}}
{{- end -}}

{{- if regexMatch "^https?://[^/@]*:[^/@]*@" $git.repository -}}
{{- $faults = append $faults "source.git.repository carries a password, which everybody could read in the pod. Put it into a Secret and name that in source.git.token.secretName." -}}
{{- end -}}
{{- $overSsh := or (hasPrefix "ssh://" $git.repository) (and $git.repository (not (contains "://" $git.repository))) -}}
{{- if and $overSsh (not $git.ssh.secretName) -}}
{{- $faults = append $faults "source.git.repository is read over SSH, and there is no key: name a Secret with the key and known_hosts in source.git.ssh.secretName." -}}
{{- end -}}
{{- if and $git.repository $git.ssh.secretName (not $overSsh) -}}
{{- $faults = append $faults "source.git.ssh.secretName is set, and source.git.repository is not an SSH address: use source.git.token.secretName, or an address such as git@git.example:team/pipes.git." -}}
{{- end -}}
{{- if and $git.token.secretName $git.ssh.secretName -}}
{{- $faults = append $faults "source.git.token.secretName and source.git.ssh.secretName are both set: use one." -}}
{{- end -}}
{{- if or (hasPrefix "/" .Values.source.path) (has ".." (splitList "/" .Values.source.path)) -}}
{{- $faults = append $faults "source.path leaves the source: give a folder in it, such as ingestion/prod." -}}
{{- end -}}

{{- $names := list -}}
{{- range .Values.secrets -}}
{{- if has .name $names -}}
{{- $faults = append $faults (printf "secrets names %q twice: each is one folder of the secrets directory." .name) -}}
{{- end -}}
{{- $names = append $names .name -}}
{{- end -}}

{{- $timeout := include "pipewright.seconds" .Values.shutdown.requestTimeout | float64 -}}
{{- $grace := include "pipewright.seconds" .Values.shutdown.grace | float64 -}}
{{- $termination := .Values.shutdown.terminationGracePeriodSeconds -}}
{{- if le $grace (addf $timeout 2) -}}
{{- $faults = append $faults (printf "shutdown.grace (%s) must be more than 2 s longer than shutdown.requestTimeout (%s): a create that has begun must be able to end and be recorded." .Values.shutdown.grace .Values.shutdown.requestTimeout) -}}
{{- end -}}
{{- if lt (float64 $termination) (addf $grace 5) -}}
{{- $faults = append $faults (printf "shutdown.terminationGracePeriodSeconds (%v) must be at least 5 s more than shutdown.grace (%s): otherwise the pod is killed while a create ends, and its outcome is unknown." $termination .Values.shutdown.grace) -}}
{{- end -}}

{{- if eq (int .Values.service.port) (int .Values.service.metricsPort) -}}
{{- $faults = append $faults (printf "service.port and service.metricsPort are both %v: give each its own." .Values.service.port) -}}
{{- end -}}

{{- $owned := include "pipewright.ownedSettings" . | fromYaml -}}
{{- range $name, $_ := .Values.settings -}}
{{- if hasKey $owned $name -}}
{{- $faults = append $faults (printf "settings.%s is set by the chart itself: use %s." $name (get $owned $name)) -}}
{{- end -}}
{{- end -}}

{{- if $faults -}}
{{- fail (printf "\n\nThese values cannot work:\n- %s\n" (join "\n- " $faults)) -}}
{{- end -}}
{{- end }}

{{/* Settings that are not for the map `settings`, and what to use instead. */}}
{{- define "pipewright.ownedSettings" -}}
config: extraArgs, with a file of extraVolumes
manifests: the values below source
base-url: platform.baseUrl
alerts-base-url: platform.alertsBaseUrl
alerts-token-file: platform.alertsToken
allow-insecure-http: platform.allowInsecureHttp
sandbox: platform.sandbox
secrets-dir: secrets
ledger: the values below ledger
ledger-init: ledger.init
listen: service.port, for the port that others see
metrics-listen: service.metricsPort, for the port that others see
allowed-hosts: allowedHosts
admin-token-file: adminToken
notifications: notifications
request-timeout: shutdown.requestTimeout
shutdown-grace: shutdown.grace
{{- end }}

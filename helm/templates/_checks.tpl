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
{{- if and (include "pipewright.overPlain" (get $platform $name)) (not $platform.allowInsecureHttp) -}}
{{- $faults = append $faults (printf "platform.%s is plain http:, so that everybody on the way could read the credentials. Give an https: URL; or, if the way is safe, platform.allowInsecureHttp=true." $name) -}}
{{- end -}}
{{- end -}}

{{- $settings := .Values.settings | default dict -}}
{{- $server := get $settings "server" | default "" -}}
{{- if and (include "pipewright.overPlain" $server) (not $platform.allowInsecureHttp) -}}
{{- $faults = append $faults "settings.server is plain http:, so that everybody on the way could read the admin token. Give an https: URL; or, if the way is safe, platform.allowInsecureHttp=true." -}}
{{- end -}}

{{- $sources := list -}}
{{- if $git.repository -}}{{- $sources = append $sources "source.git.repository" -}}{{- end -}}
{{- if .Values.source.configMap -}}{{- $sources = append $sources "source.configMap" -}}{{- end -}}
{{- $volume := include "pipewright.ofVolume" . -}}
{{- if $volume -}}{{- $sources = append $sources "source.volume" -}}{{- end -}}
{{- if eq (len $sources) 0 -}}
{{- $faults = append $faults "There is no source of manifests. Set one: source.git.repository, source.configMap or source.volume." -}}
{{- else if gt (len $sources) 1 -}}
{{- $faults = append $faults (printf "There is more than one source of manifests (%s). Set one." (join ", " $sources)) -}}
{{- end -}}

{{- if gt ($volume | fromYaml | len) 1 -}}
{{- $faults = append $faults "source.volume is one kind of volume, such as persistentVolumeClaim: what another file of values gives it as well is taken away with a null." -}}
{{- end -}}

{{- $repository := $git.repository | default "" -}}
{{- if regexMatch "(?i)^https?://[^/]*@" $repository -}}
{{- $faults = append $faults "source.git.repository carries a password or a token before the @, which everybody could read in the pod. Put it into a Secret and name that in source.git.token.secretName; a user name goes into source.git.token.username." -}}
{{- end -}}
{{- $overSsh := and $repository (not (regexMatch "(?i)^https?://" $repository)) -}}
{{- if and $overSsh (not $git.ssh.secretName) -}}
{{- $faults = append $faults "source.git.repository is read over SSH, and there is no key: name a Secret with the key and known_hosts in source.git.ssh.secretName." -}}
{{- end -}}
{{- if and $git.repository $git.ssh.secretName (not $overSsh) -}}
{{- $faults = append $faults "source.git.ssh.secretName is set, and source.git.repository is not an SSH address: use source.git.token.secretName, or an address such as git@git.example:team/pipes.git." -}}
{{- end -}}
{{- if and $git.token.secretName $git.ssh.secretName -}}
{{- $faults = append $faults "source.git.token.secretName and source.git.ssh.secretName are both set: use one." -}}
{{- end -}}
{{- $path := .Values.source.path | default "" -}}
{{- if or (hasPrefix "/" $path) (has ".." (splitList "/" $path)) -}}
{{- $faults = append $faults "source.path leaves the source: give a folder in it, such as ingestion/prod." -}}
{{- end -}}

{{- range $list := list "credentials" "secrets" -}}
{{- $names := list -}}
{{- range get $.Values $list | default list -}}
{{- if has .name $names -}}
{{- $faults = append $faults (printf "%s names %q twice: each is one folder of the %s directory." $list .name $list) -}}
{{- end -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- end -}}

{{- /* What is mounted below the secrets directory can be named by a manifest, and so be sent to a source. */}}
{{- $credentialNames := list -}}
{{- $own := dict -}}
{{- range .Values.credentials -}}
{{- $credentialNames = append $credentialNames .name -}}
{{- $_ := set $own (.secretName | default .name) "credentials" -}}
{{- end -}}
{{- with $platform.alertsToken.secretName -}}{{- $_ := set $own . "platform.alertsToken" -}}{{- end -}}
{{- with .Values.adminToken.secretName -}}{{- $_ := set $own . "adminToken" -}}{{- end -}}
{{- $secretNames := list -}}
{{- range .Values.secrets -}}
{{- $secretNames = append $secretNames .name -}}
{{- $secret := .secretName | default .name -}}
{{- if hasKey $own $secret -}}
{{- $faults = append $faults (printf "secrets mounts the Secret %q, which %s mounts as well: a manifest could send it to a source. Remove it from secrets." $secret (get $own $secret)) -}}
{{- end -}}
{{- end -}}
{{- if and $platform.alertsToken.secretName (has "alerts" $credentialNames) -}}
{{- $faults = append $faults "credentials names \"alerts\", where platform.alertsToken is mounted: leave out one of them." -}}
{{- end -}}
{{- $elsewhere := false -}}
{{- range .Values.extraVolumeMounts -}}
{{- if hasPrefix "/etc/pipewright/credentials" .mountPath -}}{{- $elsewhere = true -}}{{- end -}}
{{- end -}}
{{- if and .Values.secrets (not .Values.credentials) (not $platform.sandbox) (not $elsewhere) -}}
{{- $faults = append $faults (printf "credentials is empty, and secrets is not (%s). What a Service names belongs in credentials, and is not read out of secrets: move it. Only what pipes name stays in secrets." (join ", " $secretNames)) -}}
{{- end -}}

{{- if and $repository (not (or $git.image.digest $git.image.tag)) -}}
{{- $faults = append $faults "source.git.image has neither a tag nor a digest: set one." -}}
{{- end -}}
{{- $own := include "pipewright.ownGitSyncFlags" . | fromYaml -}}
{{- range $git.extraArgs -}}
{{- $flag := regexReplaceAll "^-+([^=]*)(=.*)?$" . "${1}" -}}
{{- if hasKey $own $flag -}}
{{- $faults = append $faults (printf "source.git.extraArgs sets --%s, which the chart sets as well: use %s." $flag (get $own $flag)) -}}
{{- end -}}
{{- end -}}

{{- if and $git.ca.secretName $git.ca.configMap -}}
{{- $faults = append $faults "source.git.ca.secretName and source.git.ca.configMap are both set: use one." -}}
{{- end -}}
{{- if and .Values.tls.ca.secretName .Values.tls.ca.configMap -}}
{{- $faults = append $faults "tls.ca.secretName and tls.ca.configMap are both set: use one." -}}
{{- end -}}

{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) -}}
{{- $faults = append $faults "ingress.enabled is on, and ingress.hosts is empty: name the hosts. Pipewright answers to no name that it does not know." -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.hostnames) -}}
{{- $faults = append $faults "httpRoute.enabled is on, and httpRoute.hostnames is empty: name the hosts. Pipewright answers to no name that it does not know." -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) -}}
{{- $faults = append $faults "httpRoute.enabled is on, and httpRoute.parentRefs is empty: name the Gateway." -}}
{{- end -}}
{{- range .Values.httpRoute.filters -}}
{{- if and $.Values.httpRoute.enabled (or (hasKey . "requestRedirect") (eq (toString .type) "RequestRedirect")) -}}
{{- $faults = append $faults "httpRoute.filters redirects, and Kubernetes takes no such rule that leads to a Service as well: redirect in a route of your own, among extraObjects." -}}
{{- end -}}
{{- end -}}
{{- if and (or .Values.ingress.enabled .Values.httpRoute.enabled) .Values.networkPolicy.enabled (not (or .Values.networkPolicy.people .Values.networkPolicy.extraIngress)) -}}
{{- $faults = append $faults "The page is opened to others, and the network policy lets nobody to it: name the pods of the ingress or the gateway in networkPolicy.people." -}}
{{- end -}}

{{- range list .Values.extraEnv .Values.source.git.extraEnv -}}
{{- range . -}}
{{- if hasPrefix "PIPEWRIGHT_" .name -}}
{{- $faults = append $faults (printf "extraEnv sets %s, which nothing checks before the pod starts: use settings.%s." .name (trimPrefix "PIPEWRIGHT_" .name | lower | replace "_" "-")) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- range .Values.envFrom -}}
{{- if hasPrefix "PIPEWRIGHT_" (.prefix | default "") -}}
{{- $faults = append $faults (printf "envFrom has the prefix %s, and nothing checks such variables before the pod starts: use settings." .prefix) -}}
{{- end -}}
{{- end -}}

{{- $faults = concat $faults (include "pipewright.ledgerFaults" . | fromYamlArray) -}}

{{- if eq (toString .Values.enabled) "false" -}}
{{- $faults = append $faults "enabled is false, and is for a chart that has this one as a dependency with `condition: pipewright.enabled`. Here it does nothing: leave it out." -}}
{{- end -}}

{{- $timeout := include "pipewright.seconds" .Values.shutdown.requestTimeout | float64 -}}
{{- $grace := include "pipewright.seconds" .Values.shutdown.grace | float64 -}}
{{- $termination := .Values.shutdown.terminationGracePeriodSeconds -}}
{{- if le $grace (addf $timeout 2) -}}
{{- $faults = append $faults (printf "shutdown.grace (%s) must be more than 2 s longer than shutdown.requestTimeout (%s): a create that has begun must be able to end and be recorded." .Values.shutdown.grace .Values.shutdown.requestTimeout) -}}
{{- end -}}
{{- $sleep := (((.Values.lifecycle | default dict).preStop | default dict).sleep | default dict).seconds | float64 -}}
{{- if lt (float64 $termination) (addf $grace 5 $sleep) -}}
{{- $before := gt $sleep 0.0 | ternary (printf " and what lifecycle.preStop sleeps (%v s)" $sleep) "" -}}
{{- $faults = append $faults (printf "shutdown.terminationGracePeriodSeconds (%v) must be at least 5 s more than shutdown.grace (%s)%s: otherwise the pod is killed while a create ends, and its outcome is unknown." $termination .Values.shutdown.grace $before) -}}
{{- end -}}

{{- if gt (include "pipewright.seconds" .Values.serviceMonitor.scrapeTimeout | float64) (include "pipewright.seconds" .Values.serviceMonitor.interval | float64) -}}
{{- $faults = append $faults (printf "serviceMonitor.scrapeTimeout (%s) is longer than serviceMonitor.interval (%s), and Prometheus would refuse that: make it shorter." .Values.serviceMonitor.scrapeTimeout .Values.serviceMonitor.interval) -}}
{{- end -}}

{{- $ports := dict -}}
{{- range $name := list "port" "metricsPort" "gitSyncPort" -}}
{{- $port := get $.Values.service $name | toString -}}
{{- with get $ports $port -}}
{{- $faults = append $faults (printf "service.%s and service.%s are both %s: give each its own." . $name $port) -}}
{{- end -}}
{{- $_ := set $ports $port $name -}}
{{- end -}}

{{- /* How long each may be is what the program, or git-sync, says of it: the test of the chart asks both. The longest of git-sync is Go's. */}}
{{- $durations := dict "shutdown.requestTimeout" .Values.shutdown.requestTimeout "shutdown.grace" .Values.shutdown.grace "source.git.period" $git.period -}}
{{- with .Values.ledger.leaseDuration -}}{{- $_ := set $durations "ledger.leaseDuration" . -}}{{- end -}}
{{- with get $settings "interval" -}}{{- $_ := set $durations "settings.interval" . -}}{{- end -}}
{{- with get $settings "api-budget" -}}{{- $_ := set $durations "settings.api-budget" (splitList "/" . | last) -}}{{- end -}}
{{- $limits := dict "shutdown.requestTimeout" (list "100ms" "1h") "shutdown.grace" (list "1s" "2h") "source.git.period" (list "10ms" "2562047h") "settings.interval" (list "1s" "24h") "settings.api-budget" (list "100ms" "1h") "ledger.leaseDuration" (list "1s" "10m") -}}
{{- range $name, $duration := $durations -}}
{{- $limit := get $limits $name -}}
{{- $seconds := include "pipewright.seconds" $duration | float64 -}}
{{- if or (lt $seconds (include "pipewright.seconds" (index $limit 0) | float64)) (gt $seconds (include "pipewright.seconds" (index $limit 1) | float64)) -}}
{{- $faults = append $faults (printf "%s: %s is not from %s to %s." $name $duration (index $limit 0) (index $limit 1)) -}}
{{- end -}}
{{- end -}}

{{- $owned := include "pipewright.ownedSettings" . | fromYaml -}}
{{- range $name, $_ := $settings -}}
{{- if hasKey $owned $name -}}
{{- $faults = append $faults (printf "settings.%s is set by the chart itself: use %s." $name (get $owned $name)) -}}
{{- end -}}
{{- end -}}

{{- $fullname := include "pipewright.fullname" . -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $fullname) -}}
{{- $faults = append $faults (printf "The objects would be called %q, and the name of a Service begins with a letter: set fullnameOverride." $fullname) -}}
{{- end -}}
{{- $ownLabels := list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component" "app.kubernetes.io/version" "app.kubernetes.io/managed-by" "helm.sh/chart" -}}
{{- range $name, $labels := dict "commonLabels" .Values.commonLabels "podLabels" .Values.podLabels "serviceMonitor.labels" .Values.serviceMonitor.labels "prometheusRule.labels" .Values.prometheusRule.labels "dashboard.labels" .Values.dashboard.labels -}}
{{- range $label, $_ := $labels -}}
{{- if has $label $ownLabels -}}
{{- $faults = append $faults (printf "%s sets %s, which the chart sets itself: leave it out." $name $label) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if not $faults -}}{{- $faults = include "pipewright.doubles" . | fromYamlArray -}}{{- end -}}
{{- $faults = concat $faults (include "pipewright.refusedPod" . | fromYamlArray) -}}

{{- with include "pipewright.unchangeable" . -}}{{- $faults = append $faults . -}}{{- end -}}

{{- if $faults -}}
{{- fail (printf "\n\nThese values cannot work:\n- %s\n" (join "\n- " $faults)) -}}
{{- end -}}
{{- end }}

{{/* Not empty where a URL lets everybody on the way read what is sent. */}}
{{- define "pipewright.overPlain" -}}
{{- if and (regexMatch "(?i)^http:" (. | default "")) (not (regexMatch "(?i)^http://(localhost|127[.][0-9.]+|\\[::1\\])(:[0-9]+)?(/|$)" .)) -}}yes{{- end -}}
{{- end }}

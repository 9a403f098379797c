{{/* Faults that values.schema.json cannot see. Each would stop the pod, or give a secret away. */}}
{{- define "pipewright.checks" -}}
{{- $faults := list -}}
{{- $pod := (include "pipewright.podTemplate" . | fromYaml).spec -}}

{{- /* The schema takes the defaults, which `helm lint` looks at. */}}
{{- if not (or .Values.platform.baseUrl .Values.platform.sandbox) -}}
{{- $faults = append $faults "platform.baseUrl is not set: --set platform.baseUrl=https://api.example.com. To try the chart without a platform: platform.sandbox=true." -}}
{{- end -}}
{{- if not (or .Values.source.git.repository .Values.platform.sandbox (include "pipewright.sourceVolume" . | fromYaml)) -}}
{{- $faults = append $faults "There is no source of manifests. Set source.git.repository, source.configMap or source.volume." -}}
{{- end -}}

{{- $private := list .Values.adminToken.secretName -}}
{{- range .Values.credentials -}}{{- $private = append $private (.secretName | default .name) -}}{{- end -}}
{{- range .Values.secrets -}}
{{- $secret := .secretName | default .name -}}
{{- if has $secret $private -}}
{{- $faults = append $faults (printf "secrets mounts the Secret %q, which credentials or adminToken mounts as well: a manifest could send it to a source. Remove it from secrets." $secret) -}}
{{- end -}}
{{- end -}}
{{- $name := include "pipewright.fullname" . -}}
{{- if and (include "pipewright.inCluster" .) (regexMatch (printf `"secretName":%q|"secretKeyRef":\{[^}]*"name":%q` $name $name) (toJson $pod)) -}}
{{- $faults = append $faults (printf "The ledger is the Secret %q, and a value names that Secret for the pod. Rename your Secret, or set fullnameOverride." $name) -}}
{{- end -}}

{{- $settings := include "pipewright.settings" . | fromYaml -}}
{{- $limits := dict "interval" (list "1s" "24h") "api-budget" (list "100ms" "1h") "request-timeout" (list "100ms" "1h") "shutdown-grace" (list "1s" "2h") "lease-duration" (list "1s" "10m") "source.git.period" (list "10ms" "2562047h") -}}
{{- range $setting, $limit := $limits -}}
{{- with get (merge (dict "source.git.period" $.Values.source.git.period) $settings) $setting -}}
{{- $seconds := include "pipewright.seconds" (splitList "/" . | last) | float64 -}}
{{- if or (lt $seconds (include "pipewright.seconds" (index $limit 0) | float64)) (gt $seconds (include "pipewright.seconds" (index $limit 1) | float64)) -}}
{{- $faults = append $faults (printf "%s%s: %s is not from %s to %s." (contains "." $setting | ternary "" "settings.") $setting . (index $limit 0) (index $limit 1)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $timeout := get $settings "request-timeout" -}}
{{- $grace := get $settings "shutdown-grace" -}}
{{- if le (include "pipewright.seconds" $grace | float64) (addf (include "pipewright.seconds" $timeout | float64) 2) -}}
{{- $faults = append $faults (printf "settings.shutdown-grace (%s) must be more than 2 s longer than settings.request-timeout (%s): a create that has begun must be able to end." $grace $timeout) -}}
{{- end -}}

{{- $faults = concat $faults (include "pipewright.podFaults" (list . $pod) | fromYamlArray) -}}
{{- with include "pipewright.unchangeable" . -}}{{- $faults = append $faults . -}}{{- end -}}
{{- if $faults -}}
{{- fail (printf "\n\nThese values cannot work:\n- %s\n" (join "\n- " $faults)) -}}
{{- end -}}
{{- end }}

{{/* Kubernetes looks at the pod of a StatefulSet only when it starts one: by then the pod before has ended. */}}
{{- define "pipewright.podFaults" -}}
{{- $faults := list -}}
{{- $values := (index . 0).Values -}}
{{- $pod := index . 1 -}}
{{- $containers := concat $pod.containers ($pod.initContainers | default list) -}}
{{- $lists := dict "containers" (list "name" $containers) "volumes" (list "name" $pod.volumes) -}}
{{- $volumes := eq ($values.ledger.type | default "sqlite") "sqlite" | ternary (list "ledger") list -}}
{{- range $pod.volumes -}}{{- $volumes = append $volumes .name -}}{{- end -}}
{{- range $container := $containers -}}
{{- $_ := set $lists (printf "variables of the container %s" .name) (list "name" .env) -}}
{{- $_ := set $lists (printf "mounts of the container %s" .name) (list "mountPath" .volumeMounts) -}}
{{- range .volumeMounts -}}
{{- if not (has .name $volumes) -}}
{{- $faults = append $faults (printf "The container %s mounts the volume %q, which is not in the pod: add it to extraVolumes." $container.name .name) -}}
{{- end -}}
{{- end -}}
{{- $limits := (.resources | default dict).limits | default dict -}}
{{- range $what, $request := pick ((.resources | default dict).requests | default dict) "cpu" "memory" "ephemeral-storage" -}}
{{- $limit := get $limits $what | toString -}}
{{- if and $limit (gt (include "pipewright.quantity" $request | float64) (include "pipewright.quantity" $limit | float64)) -}}
{{- $faults = append $faults (printf "The container %s requests more %s (%v) than its limit (%s)." $container.name $what $request $limit) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $what, $list := $lists -}}
{{- $seen := list -}}
{{- range index $list 1 -}}
{{- $name := get . (index $list 0) -}}
{{- if has $name $seen -}}{{- $faults = append $faults (printf "%s: %s is there twice." $what $name) -}}{{- end -}}
{{- $seen = append $seen $name -}}
{{- end -}}
{{- end -}}
{{- toYaml $faults -}}
{{- end }}

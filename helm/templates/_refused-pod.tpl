{{/*
What Kubernetes refuses in a pod, and not in the StatefulSet or Deployment that makes it: the upgrade would be taken, the pod that runs would end, and
no other could be made.
*/}}
{{- define "pipewright.refusedPod" -}}
{{- $faults := list -}}

{{- range $at, $resources := dict "resources" .Values.resources "source.git.resources" .Values.source.git.resources -}}
{{- $limits := ($resources | default dict).limits | default dict -}}
{{- range $name, $request := ($resources | default dict).requests | default dict -}}
{{- $limit := get $limits $name -}}
{{- if and (has $name (list "cpu" "memory" "ephemeral-storage")) (not (kindIs "invalid" $request)) (hasKey $limits $name) (not (kindIs "invalid" $limit)) -}}
{{- if gt (include "pipewright.quantity" $request | float64) (include "pipewright.quantity" $limit | float64) -}}
{{- $faults = append $faults (printf "%s.requests.%s (%v) is more than %s.limits.%s (%v), and Kubernetes makes no such pod: lower the first, which may be the chart's own, or raise the second." $at $name $request $at $name $limit) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- $volumes := include "pipewright.inCluster" . | empty | ternary (list "ledger") list -}}
{{- range include "pipewright.volumes" . | fromYamlArray -}}{{- $volumes = append $volumes .name -}}{{- end -}}
{{- $mounts := dict "extraVolumeMounts" .Values.extraVolumeMounts -}}
{{- if .Values.source.git.repository -}}{{- $_ := set $mounts "source.git.extraVolumeMounts" .Values.source.git.extraVolumeMounts -}}{{- end -}}
{{- range $list := list "extraContainers" "initContainers" -}}
{{- range get $.Values $list | default list -}}
{{- $_ := set $mounts (printf "%s: %s" $list .name) .volumeMounts -}}
{{- end -}}
{{- end -}}
{{- range $at, $list := $mounts -}}
{{- range $list | default list -}}
{{- if not (has .name $volumes) -}}
{{- $faults = append $faults (printf "%s mounts the volume %q, which is not in the pod: name it in extraVolumes, or correct it." $at .name) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- if and (eq (.Values.dnsPolicy | default "") "None") (not (get (.Values.dnsConfig | default dict) "nameservers")) -}}
{{- $faults = append $faults "dnsPolicy is None, and dnsConfig.nameservers is empty: name a server." -}}
{{- end -}}
{{- toYaml $faults -}}
{{- end }}

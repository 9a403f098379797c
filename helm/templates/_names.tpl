{{- define "pipewright.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{/* A release can have dots in its name, and an alias can have capitals. A Service can have neither. */}}
{{- define "pipewright.fullname" -}}
{{- $release := .Release.Name | replace "." "-" -}}
{{- $name := include "pipewright.name" . | lower | replace "_" "-" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if and (ne .Chart.Name "pipewright") (ne $name $release) }}
{{- /* A parent can have several copies. The alias tells them apart, and stays whole. */}}
{{- $alias := $name | trunc 40 | trimSuffix "-" -}}
{{- printf "%s-%s" ($release | trunc (int (sub 49 (len $alias))) | trimSuffix "-") $alias }}
{{- else if contains $name $release }}
{{- $release | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" $release $name | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "pipewright.selectorLabels" -}}
{{ include "pipewright.componentLabels" (list . "daemon") }}
{{- end }}

{{/* These labels never change in the life of a release. */}}
{{- define "pipewright.componentLabels" -}}
app.kubernetes.io/name: {{ include "pipewright.name" (index . 0) | toYaml }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name | toYaml }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* Labels of an object: {root, component, labels}. A tag can be longer than a label. */}}
{{- define "pipewright.labels" -}}
{{ include "pipewright.componentLabels" (list .root (.component | default "daemon")) }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ .root.Values.image.tag | default .root.Chart.AppVersion | trunc 63 | trimAll "-_." | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- with merge (dict) (.labels | default dict) (.root.Values.commonLabels | default dict) }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The metadata of an object: {root, name, suffix, namespace, component, labels, annotations}. */}}
{{- define "pipewright.metadata" -}}
name: {{ printf "%s%s" (.name | default (include "pipewright.fullname" .root)) (.suffix | default "") | toYaml }}
namespace: {{ .namespace | default .root.Release.Namespace | toYaml }}
labels:
  {{- include "pipewright.labels" . | nindent 2 }}
{{- with merge (dict) (.annotations | default dict) (.root.Values.commonAnnotations | default dict) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "pipewright.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (.Values.serviceAccount.create | empty | ternary "default" (include "pipewright.fullname" .)) }}
{{- end }}

{{/* An image, (list . repository version): `global.imageRegistry` replaces the registry in its name. */}}
{{- define "pipewright.image" -}}
{{- $repository := index . 1 -}}
{{- with ((index . 0).Values.global | default dict).imageRegistry -}}
{{- $repository = printf "%s/%s" (trimSuffix "/" .) (regexReplaceAll "^(localhost|[^/]*[.:][^/]*)/" $repository "") -}}
{{- end -}}
{{ $repository }}{{ index . 2 }}
{{- end }}

{{/* Without a tag and a digest: the image that was released with this chart. */}}
{{- define "pipewright.ownImage" -}}
{{- $image := .Values.image -}}
{{- $released := $image.tag | empty | not | ternary "" (index (.Chart.Annotations | default dict) "pipewright/image-digest") -}}
{{- $tag := printf ":%s" ($image.tag | default .Chart.AppVersion) -}}
{{- include "pipewright.image" (list . $image.repository (($image.digest | default $released) | empty | ternary $tag (printf "@%s" ($image.digest | default $released)))) -}}
{{- end }}

{{- define "pipewright.imagePullSecrets" -}}
{{- $names := list -}}
{{- range concat ((.Values.global | default dict).imagePullSecrets | default list) (.Values.imagePullSecrets | default list) -}}
{{- $names = append $names (kindIs "string" . | ternary (dict "name" .) .) -}}
{{- end -}}
{{- with $names | uniq -}}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end }}

{{/* A map laid over another one, (list base over): maps merge, lists are appended, and null removes a field. */}}
{{- define "pipewright.over" -}}
{{- $fields := deepCopy (index . 0) -}}
{{- range $name, $value := index . 1 -}}
{{- $before := get $fields $name -}}
{{- if kindIs "invalid" $value -}}
{{- $_ := unset $fields $name -}}
{{- else if kindIs "map" $value -}}
{{- $_ := set $fields $name (include "pipewright.over" (list (kindIs "map" $before | ternary $before dict) $value) | fromYaml) -}}
{{- else if and (kindIs "slice" $before) (kindIs "slice" $value) -}}
{{- $_ := set $fields $name (concat $before $value) -}}
{{- else -}}
{{- $_ := set $fields $name $value -}}
{{- end -}}
{{- end -}}
{{- toYaml $fields -}}
{{- end }}

{{/* Seconds of a text such as 90s or 1m30s. */}}
{{- define "pipewright.seconds" -}}
{{- $total := 0.0 -}}
{{- range regexFindAll "[0-9.]+(ms|s|m|h|d)" . -1 -}}
{{- $unit := regexFind "[a-z]+" . -}}
{{- $total = addf $total (mulf (trimSuffix $unit . | float64) (get (dict "ms" 0.001 "s" 1.0 "m" 60.0 "h" 3600.0 "d" 86400.0) $unit)) -}}
{{- end -}}
{{- $total -}}
{{- end }}

{{/* A Kubernetes quantity as a number. */}}
{{- define "pipewright.quantity" -}}
{{- $units := dict "" 1.0 "n" 1e-9 "u" 1e-6 "m" 1e-3 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "E" 1e18 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 "Pi" 1125899906842624.0 "Ei" 1152921504606846976.0 -}}
{{- $quantity := toString . -}}
{{- $unit := regexFind "([numk]|[KMGTPE]i?)$" $quantity -}}
{{- mulf (trimSuffix $unit $quantity | float64) (get $units $unit) -}}
{{- end }}

{{/* The port of a URL or of git@host:path. */}}
{{- define "pipewright.port" -}}
{{- $url := lower . -}}
{{- $authority := regexReplaceAll "^[a-z]+://([^/@]*@)?([^/]*).*$" $url "${2}" -}}
{{- if not (contains "://" $url) -}}22
{{- else if regexMatch ":[0-9]+$" $authority -}}{{ regexFind "[0-9]+$" $authority }}
{{- else -}}{{ get (dict "https" "443" "http" "80" "ssh" "22") (regexFind "^[a-z]+" $url) }}
{{- end -}}
{{- end }}

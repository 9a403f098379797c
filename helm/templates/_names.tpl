{{- define "pipewright.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "pipewright.fullname" -}}
{{- /* A release may have dots in its name, an alias may have capitals, and a Service may have neither. */}}
{{- $release := .Release.Name | replace "." "-" -}}
{{- $name := include "pipewright.name" . | lower | replace "_" "-" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if and (ne .Chart.Name "pipewright") (ne $name $release) }}
{{- /* Others may be in the release of a parent, each under its alias: what tells them apart is never left out and never cut off. */}}
{{- $alias := $name | trunc 40 | trimSuffix "-" -}}
{{- printf "%s-%s" ($release | trunc (int (sub 49 (len $alias))) | trimSuffix "-") $alias }}
{{- else if contains $name $release }}
{{- $release | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" $release $name | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* What tells our pod from every other; never changes over the life of a release. */}}
{{- define "pipewright.selectorLabels" -}}
{{ include "pipewright.componentLabels" (list . "daemon") }}
{{- end }}

{{- define "pipewright.componentLabels" -}}
app.kubernetes.io/name: {{ include "pipewright.name" (index . 0) | toYaml }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name | toYaml }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* Labels of an object, (list . its-own): a label is at most 63 characters, and a tag may be longer. */}}
{{- define "pipewright.commonLabels" -}}
{{- $root := index . 0 -}}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ $root.Values.image.tag | default $root.Chart.AppVersion | trunc 63 | trimAll "-_." | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
{{- with merge (dict) (index . 1 | default dict) ($root.Values.commonLabels | default dict) }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The same of what belongs to the daemon. */}}
{{- define "pipewright.labels" -}}
{{ include "pipewright.selectorLabels" (index . 0) }}
{{ include "pipewright.commonLabels" . }}
{{- end }}

{{- define "pipewright.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- .Values.serviceAccount.name | default (include "pipewright.fullname" .) }}
{{- else }}
{{- .Values.serviceAccount.name | default "default" }}
{{- end }}
{{- end }}

{{/* An image of values, (list . {repository, tag, digest}): a digest comes before a tag, the registry of all charts before its own. */}}
{{- define "pipewright.image" -}}
{{- $image := index . 1 -}}
{{- $repository := $image.repository -}}
{{- with ((index . 0).Values.global | default dict).imageRegistry -}}
{{- $repository = printf "%s/%s" (trimSuffix "/" .) (regexReplaceAll "^(localhost|[^/]*[.:][^/]*)/" $repository "") -}}
{{- end -}}
{{- if $image.digest -}}
{{ $repository }}@{{ $image.digest }}
{{- else -}}
{{ $repository }}:{{ $image.tag }}
{{- end -}}
{{- end }}

{{/* That which was released with this chart, by its digest, unless another one is named. */}}
{{- define "pipewright.ownImage" -}}
{{- $image := .Values.image -}}
{{- $released := $image.tag | empty | not | ternary "" (index (.Chart.Annotations | default dict) "pipewright/image-digest") -}}
{{- include "pipewright.image" (list . (dict "repository" $image.repository "digest" ($image.digest | default $released) "tag" ($image.tag | default .Chart.AppVersion))) -}}
{{- end }}

{{/* Secrets for the registry, of all charts and our own; one is a name or {name}. */}}
{{- define "pipewright.imagePullSecrets" -}}
{{- $names := list -}}
{{- range concat ((.Values.global | default dict).imagePullSecrets | default list) (.Values.imagePullSecrets | default list) -}}
{{- $names = append $names (kindIs "string" . | ternary (dict "name" .) .) -}}
{{- end -}}
{{- if $names -}}
imagePullSecrets:
  {{- toYaml ($names | uniq) | nindent 2 }}
{{- end -}}
{{- end }}

{{/* `annotations:` of an object, (list . its-own): those of every object, and its own. */}}
{{- define "pipewright.annotations" -}}
{{- $all := merge (dict) (index . 1 | default dict) ((index . 0).Values.commonAnnotations | default dict) -}}
{{- if $all -}}
annotations:
  {{- toYaml $all | nindent 2 }}
{{- end -}}
{{- end }}

{{/* A map without what is null: so is a default taken away, also where Helm leaves the null in. */}}
{{- define "pipewright.withoutNulls" -}}
{{- $kept := dict -}}
{{- range $key, $value := . -}}
{{- if kindIs "map" $value -}}
{{- with include "pipewright.withoutNulls" $value | fromYaml -}}{{- $_ := set $kept $key . -}}{{- end -}}
{{- else if not (kindIs "invalid" $value) -}}
{{- $_ := set $kept $key $value -}}
{{- end -}}
{{- end -}}
{{- toYaml $kept -}}
{{- end }}

{{/* The names by which the page is opened from outside. */}}
{{- define "pipewright.publicHosts" -}}
{{- $hosts := list -}}
{{- if .Values.ingress.enabled -}}{{- $hosts = concat $hosts .Values.ingress.hosts -}}{{- end -}}
{{- if .Values.httpRoute.enabled -}}{{- $hosts = concat $hosts .Values.httpRoute.hostnames -}}{{- end -}}
{{- join "," $hosts -}}
{{- end }}

{{/* Seconds of a text like 90s or 1m30s, rounded down, as Pipewright reads it. */}}
{{- define "pipewright.seconds" -}}
{{- $total := 0.0 -}}
{{- range regexFindAll "[0-9.]+(ms|s|m|h|d)" . -1 -}}
{{- $unit := regexFind "[a-z]+" . -}}
{{- $total = addf $total (mulf (trimSuffix $unit . | float64) (get (dict "ms" 0.001 "s" 1.0 "m" 60.0 "h" 3600.0 "d" 86400.0) $unit)) -}}
{{- end -}}
{{- $total -}}
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

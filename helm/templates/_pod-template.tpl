{{/* The pods of the StatefulSet or of the Deployment. */}}
{{- define "pipewright.podTemplate" -}}
metadata:
  labels:
    {{- include "pipewright.labels" (dict "root" . "labels" .Values.podLabels) | nindent 4 }}
  annotations:
    {{- $container := dict "kubectl.kubernetes.io/default-container" "pipewright" }}
    {{- toYaml (merge (dict) (.Values.podAnnotations | default dict) (.Values.commonAnnotations | default dict) $container) | nindent 4 }}
spec:
  serviceAccountName: {{ include "pipewright.serviceAccountName" . | toYaml }}
  automountServiceAccountToken: false
  # Variables of a Service called pipewright would have the prefix of the settings.
  enableServiceLinks: false
  {{- with include "pipewright.imagePullSecrets" . }}
  {{- . | nindent 2 }}
  {{- end }}
  securityContext:
    {{- include "pipewright.over" (list dict (.Values.podSecurityContext | default dict)) | nindent 4 }}
  {{- include "pipewright.podSpecExtra" . | nindent 2 }}
  containers:
    - name: pipewright
      image: {{ include "pipewright.ownImage" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      {{- include "pipewright.process" . | nindent 6 }}
      env:
        {{- include "pipewright.env" . | trim | nindent 8 }}
      ports:
        - { name: http, containerPort: 8080, protocol: TCP }
        - { name: metrics, containerPort: 9090, protocol: TCP }
      resources:
        {{- include "pipewright.over" (list dict (.Values.resources | default dict)) | nindent 8 }}
      securityContext:
        {{- include "pipewright.over" (list dict (.Values.containerSecurityContext | default dict)) | nindent 8 }}
      volumeMounts:
        {{- include "pipewright.mounts" . | trim | nindent 8 }}
    {{- if .Values.source.git.repository }}
    {{- include "pipewright.gitSync" . | nindent 4 }}
    {{- end }}
    {{- with .Values.extraContainers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  volumes:
    {{- include "pipewright.volumes" . | trim | default "[]" | nindent 4 }}
{{- end }}

{{/* `podSpecExtra`, with the time to stop, and with different nodes for several pods. */}}
{{- define "pipewright.podSpecExtra" -}}
{{- $extra := deepCopy (.Values.podSpecExtra | default dict) -}}
{{- $grace := include "pipewright.seconds" (get (include "pipewright.settings" . | fromYaml) "shutdown-grace") | float64 | ceil | int -}}
{{- $sleep := ((((.Values.containerExtra | default dict).lifecycle | default dict).preStop | default dict).sleep | default dict).seconds | default 0 -}}
{{- $_ := set $extra "terminationGracePeriodSeconds" (max (add $grace 15 $sleep) ($extra.terminationGracePeriodSeconds | default 0)) -}}
{{- if and (include "pipewright.inCluster" .) (not $extra.affinity) -}}
{{- $term := dict "topologyKey" "kubernetes.io/hostname" "labelSelector" (dict "matchLabels" (include "pipewright.selectorLabels" . | fromYaml)) -}}
{{- $preferred := list (dict "weight" 100 "podAffinityTerm" $term) -}}
{{- $_ := set $extra "affinity" (dict "podAntiAffinity" (dict "preferredDuringSchedulingIgnoredDuringExecution" $preferred)) -}}
{{- end -}}
{{- include "pipewright.over" (list dict $extra) -}}
{{- end }}

{{/* The process and its probes. In diagnostic mode the container waits for `kubectl exec`. */}}
{{- define "pipewright.process" -}}
{{- $extra := .Values.containerExtra | default dict -}}
{{- if .Values.diagnosticMode -}}
command:
  - node
  - -e
  - |
    for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(0))
    setInterval(() => {}, 2 ** 30)
    console.log('Diagnostic mode: no daemon runs here.')
{{- with omit $extra "startupProbe" "livenessProbe" "readinessProbe" "lifecycle" }}
{{ include "pipewright.over" (list dict .) }}
{{- end }}
{{- else -}}
args:
  - run
{{- $health := dict "path" "/healthz" "port" "metrics" -}}
{{- $startup := dict "httpGet" $health "periodSeconds" 2 "timeoutSeconds" 3 "failureThreshold" 60 -}}
{{- $liveness := dict "httpGet" $health "periodSeconds" 20 "timeoutSeconds" 5 "failureThreshold" 3 -}}
{{- $readiness := dict "httpGet" (dict "path" "/readyz" "port" "metrics") "periodSeconds" 5 "timeoutSeconds" 3 "failureThreshold" 3 }}
{{- with include "pipewright.over" (list (dict "startupProbe" $startup "livenessProbe" $liveness "readinessProbe" $readiness) $extra) | fromYaml }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- end }}

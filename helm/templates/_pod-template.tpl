{{/* The pod, with what is said of each pod: that of a StatefulSet, or those of a Deployment. */}}
{{- define "pipewright.podTemplate" -}}
metadata:
  labels:
    {{- include "pipewright.labels" (list . .Values.podLabels) | nindent 4 }}
  annotations:
    {{- $container := dict "kubectl.kubernetes.io/default-container" "pipewright" }}
    {{- toYaml (merge (dict) (.Values.podAnnotations | default dict) (.Values.commonAnnotations | default dict) $container) | nindent 4 }}
spec:
  serviceAccountName: {{ include "pipewright.serviceAccountName" . | toYaml }}
  automountServiceAccountToken: false
  # A Service called pipewright would otherwise put variables of our own prefix into the containers.
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .Values.shutdown.terminationGracePeriodSeconds }}
  {{- with include "pipewright.imagePullSecrets" . }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- with .Values.hostAliases }}
  hostAliases:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.dnsPolicy }}
  dnsPolicy: {{ . }}
  {{- end }}
  {{- with .Values.dnsConfig }}
  dnsConfig:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . | toYaml }}
  {{- end }}
  securityContext:
    {{- include "pipewright.withoutNulls" .Values.podSecurityContext | nindent 4 }}
  {{- with .Values.initContainers }}
  initContainers:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: pipewright
      image: {{ include "pipewright.ownImage" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      {{- include "pipewright.process" . | nindent 6 }}
      env:
        {{- include "pipewright.env" . | trim | nindent 8 }}
      {{- with .Values.envFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        - name: http
          containerPort: 8080
          protocol: TCP
        - name: metrics
          containerPort: 9090
          protocol: TCP
      resources:
        {{- include "pipewright.withoutNulls" .Values.resources | nindent 8 }}
      securityContext:
        {{- include "pipewright.withoutNulls" .Values.containerSecurityContext | nindent 8 }}
      volumeMounts:
        {{- include "pipewright.mounts" . | trim | nindent 8 }}
    {{- if .Values.source.git.repository }}
    {{- include "pipewright.gitSync" . | nindent 4 }}
    {{- end }}
    {{- with .Values.extraContainers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  volumes:
    {{- include "pipewright.volumes" . | trim | nindent 4 }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with include "pipewright.affinity" . }}
  affinity:
    {{- . | nindent 4 }}
  {{- end }}
  {{- with .Values.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{/* Several pods are better on several nodes, and may be on one where there is no other. */}}
{{- define "pipewright.affinity" -}}
{{- if .Values.affinity -}}
{{- toYaml .Values.affinity -}}
{{- else if include "pipewright.inCluster" . -}}
podAntiAffinity:
  preferredDuringSchedulingIgnoredDuringExecution:
    - weight: 100
      podAffinityTerm:
        topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels:
            {{- include "pipewright.selectorLabels" . | nindent 12 }}
{{- end -}}
{{- end }}

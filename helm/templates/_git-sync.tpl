{{/* The container that keeps the checkout current. */}}
{{- define "pipewright.gitSync" -}}
{{- $extra := .Values.source.git.containerExtra | default dict -}}
{{- if .Values.diagnosticMode -}}{{- $extra = omit $extra "livenessProbe" "readinessProbe" "startupProbe" -}}{{- end -}}
- {{ include "pipewright.over" (list (include "pipewright.gitSyncOwn" . | fromYaml) $extra) | nindent 2 | trim }}
{{- end }}

{{- define "pipewright.gitSyncOwn" -}}
{{- $git := .Values.source.git -}}
{{- $tellsPipewright := and $git.webhook .Values.adminToken.secretName -}}
name: git-sync
image: {{ include "pipewright.image" (list . $git.image "") }}
imagePullPolicy: IfNotPresent
args:
  - {{ printf "--repo=%s" $git.repository | quote }}
  - {{ printf "--ref=%s" $git.ref | quote }}
  - --depth=1
  - --submodules=off
  - --period={{ $git.period }}
  - --root=/git
  - --link=current
  {{- /* While the repository is out of reach, the last checkout stays in use. */}}
  - --max-failures=-1
  - --http-bind=:9091
  - --http-metrics
  {{- if $git.token.secretName }}
  - --username=git
  - --password-file=/etc/git-secret/{{ $git.token.key }}
  {{- else if $git.ssh.secretName }}
  - --ssh
  - --ssh-key-file=/etc/git-secret/{{ $git.ssh.key }}
  - --ssh-known-hosts-file=/etc/git-secret/known_hosts
  {{- end }}
  {{- if $tellsPipewright }}
  - --webhook-success-status=202
  - --webhook-backoff=30s
  {{- end }}
  {{- with $git.extraArgs }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
env:
  - name: HOME
    value: /tmp
  {{- if $tellsPipewright }}
  {{- /* git-sync sends no header of its own. The token travels as a Basic password, within the pod. */}}
  - name: PIPEWRIGHT_ADMIN_TOKEN
    valueFrom:
      secretKeyRef:
        name: {{ .Values.adminToken.secretName | toYaml }}
        key: {{ .Values.adminToken.key | toYaml }}
        optional: true
  - name: GITSYNC_WEBHOOK_URL
    value: http://git-sync:$(PIPEWRIGHT_ADMIN_TOKEN)@127.0.0.1:8080/-/reconcile
  {{- end }}
  {{- with include "pipewright.proxyEnv" . }}{{ trim . | nindent 2 }}{{ end }}
ports: [{ name: git-sync, containerPort: 9091, protocol: TCP }]
{{- if not .Values.diagnosticMode }}
{{- /* `/` answers 503 until the first checkout, which can take long. */}}
livenessProbe: { httpGet: { path: /metrics, port: git-sync }, periodSeconds: 30, timeoutSeconds: 5, failureThreshold: 4 }
{{- end }}
resources:
  requests: { cpu: 10m, memory: 64Mi, ephemeral-storage: 128Mi }
  limits: { memory: 256Mi, ephemeral-storage: 2Gi }
securityContext:
  {{- /* ssh finds this user in /etc/passwd of the image. */}}
  {{- $user := dict "runAsUser" 65533 "runAsGroup" 65533 }}
  {{- include "pipewright.over" (list $user (omit (.Values.containerSecurityContext | default dict) "runAsUser" "runAsGroup")) | nindent 2 }}
volumeMounts:
  - { name: git, mountPath: /git }
  - { name: git-tmp, mountPath: /tmp }
  {{- if or $git.token.secretName $git.ssh.secretName }}
  - { name: git-secret, mountPath: /etc/git-secret, readOnly: true }
  {{- end }}
{{- end }}

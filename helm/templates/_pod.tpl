{{/* Where things are in the containers. */}}
{{- define "pipewright.manifestsDir" -}}
{{- $root := ternary "/git/current" "/manifests" (ne .Values.source.git.repository "") -}}
{{- ternary $root (printf "%s/%s" $root (trimSuffix "/" .Values.source.path)) (eq .Values.source.path "") -}}
{{- end }}

{{/* Settings travel as variables, so that `kubectl exec … pipewright status` has them too. */}}
{{- define "pipewright.env" -}}
{{- $env := dict "PIPEWRIGHT_LISTEN" "0.0.0.0:8080" "PIPEWRIGHT_METRICS_LISTEN" "0.0.0.0:9090" -}}
{{- $_ := set $env "PIPEWRIGHT_MANIFESTS" (include "pipewright.manifestsDir" .) -}}
{{- $_ = set $env "PIPEWRIGHT_ALLOWED_HOSTS" (include "pipewright.allowedHosts" .) -}}
{{- $_ = set $env "PIPEWRIGHT_LEDGER_INIT" .Values.ledger.init -}}
{{- $_ = set $env "PIPEWRIGHT_REQUEST_TIMEOUT" .Values.shutdown.requestTimeout -}}
{{- $_ = set $env "PIPEWRIGHT_SHUTDOWN_GRACE" .Values.shutdown.grace -}}
{{- if .Values.platform.sandbox -}}
{{- $_ = set $env "PIPEWRIGHT_SANDBOX" "true" -}}
{{- else -}}
{{- $_ = set $env "PIPEWRIGHT_BASE_URL" .Values.platform.baseUrl -}}
{{- $_ = set $env "PIPEWRIGHT_LEDGER" "sqlite:/var/lib/pipewright/ledger.db" -}}
{{- $_ = set $env "PIPEWRIGHT_SECRETS_DIR" "/etc/pipewright/secrets" -}}
{{- end -}}
{{- with .Values.platform.alertsBaseUrl -}}{{- $_ = set $env "PIPEWRIGHT_ALERTS_BASE_URL" . -}}{{- end -}}
{{- if .Values.platform.alertsToken.secretName -}}
{{- $_ = set $env "PIPEWRIGHT_ALERTS_TOKEN_FILE" "/etc/pipewright/alerts-token/token" -}}
{{- end -}}
{{- if .Values.platform.allowInsecureHttp -}}{{- $_ = set $env "PIPEWRIGHT_ALLOW_INSECURE_HTTP" "true" -}}{{- end -}}
{{- if .Values.adminToken.secretName -}}
{{- $_ = set $env "PIPEWRIGHT_ADMIN_TOKEN_FILE" "/etc/pipewright/admin-token/token" -}}
{{- end -}}
{{- if .Values.notifications -}}
{{- $_ = set $env "PIPEWRIGHT_NOTIFICATIONS" "/etc/pipewright/config/notifications.yaml" -}}
{{- end -}}
{{- range $name, $value := .Values.settings -}}
{{- $_ = set $env (printf "PIPEWRIGHT_%s" ($name | upper | replace "-" "_")) (toString $value) -}}
{{- end -}}
{{- range $name, $value := $env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The Service is asked by any of its names, whole or short. */}}
{{- define "pipewright.allowedHosts" -}}
{{- $service := include "pipewright.fullname" . -}}
{{- $names := list $service -}}
{{- range list "" ".svc" (printf ".svc.%s" .Values.clusterDomain) -}}
{{- $names = append $names (printf "%s.%s%s" $service $.Release.Namespace .) -}}
{{- end -}}
{{- join "," (concat $names .Values.allowedHosts | uniq) -}}
{{- end }}

{{- define "pipewright.mounts" -}}
- name: ledger
  mountPath: /var/lib/pipewright
- name: {{ ternary "git" "manifests" (ne .Values.source.git.repository "") }}
  mountPath: {{ ternary "/git" "/manifests" (ne .Values.source.git.repository "") }}
  readOnly: true
{{- range .Values.secrets }}
- name: secret-{{ .name | replace "." "-" }}
  mountPath: /etc/pipewright/secrets/{{ .name }}
  readOnly: true
{{- end }}
{{- if .Values.platform.alertsToken.secretName }}
- name: alerts-token
  mountPath: /etc/pipewright/alerts-token
  readOnly: true
{{- end }}
{{- if .Values.adminToken.secretName }}
- name: admin-token
  mountPath: /etc/pipewright/admin-token
  readOnly: true
{{- end }}
{{- if .Values.notifications }}
- name: config
  mountPath: /etc/pipewright/config
  readOnly: true
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "pipewright.volumes" -}}
{{- $git := .Values.source.git -}}
{{- if .Values.ledger.existingClaim }}
- name: ledger
  persistentVolumeClaim:
    claimName: {{ .Values.ledger.existingClaim }}
{{- end }}
{{- if $git.repository }}
- name: git
  emptyDir: {}
- name: git-tmp
  emptyDir: {}
{{- with ($git.token.secretName | default $git.ssh.secretName) }}
- name: git-secret
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- else if .Values.source.configMap }}
- name: manifests
  configMap:
    name: {{ .Values.source.configMap }}
{{- else if .Values.source.volume }}
- name: manifests
  {{- toYaml .Values.source.volume | nindent 2 }}
{{- end }}
{{- /* Optional: a Secret that is not there yet must not keep the others from working. Pipewright names it. */}}
{{- range .Values.secrets }}
- name: secret-{{ .name | replace "." "-" }}
  secret:
    secretName: {{ .secretName | default .name }}
    optional: true
    defaultMode: 0440
{{- end }}
{{- with .Values.platform.alertsToken }}
{{- if .secretName }}
- name: alerts-token
  secret:
    secretName: {{ .secretName }}
    optional: true
    defaultMode: 0440
    items: [{ key: {{ .key | quote }}, path: token }]
{{- end }}
{{- end }}
{{- with .Values.adminToken }}
{{- if .secretName }}
- name: admin-token
  secret:
    secretName: {{ .secretName }}
    optional: true
    defaultMode: 0440
    items: [{ key: {{ .key | quote }}, path: token }]
{{- end }}
{{- end }}
{{- if .Values.notifications }}
- name: config
  configMap:
    name: {{ include "pipewright.fullname" . }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "pipewright.gitSync" -}}
{{- $git := .Values.source.git -}}
- name: git-sync
  image: {{ include "pipewright.image" $git.image }}
  imagePullPolicy: {{ $git.image.pullPolicy }}
  args:
    - {{ printf "--repo=%s" $git.repository | quote }}
    - {{ printf "--ref=%s" $git.ref | quote }}
    - --depth={{ $git.depth }}
    - --submodules={{ $git.submodules }}
    - --period={{ $git.period }}
    - --root=/git
    - --link=current
    {{- /* A repository that cannot be reached for a while is no reason to end: the last checkout stays in use. */}}
    - --max-failures=-1
    {{- if $git.token.secretName }}
    - {{ printf "--username=%s" $git.token.username | quote }}
    - --password-file=/etc/git-secret/{{ $git.token.key }}
    {{- else if $git.ssh.secretName }}
    - --ssh
    - --ssh-key-file=/etc/git-secret/{{ $git.ssh.key }}
    - --ssh-known-hosts-file=/etc/git-secret/{{ $git.ssh.knownHostsKey }}
    {{- end }}
    {{- if and $git.webhook .Values.adminToken.secretName }}
    - --webhook-success-status=202
    {{- end }}
    {{- with $git.extraArgs }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  env:
    - name: HOME
      value: /tmp
    {{- if and $git.webhook .Values.adminToken.secretName }}
    {{- /* git-sync sends no header of ours; the token travels as a Basic password, within the pod. */}}
    - name: PIPEWRIGHT_ADMIN_TOKEN
      valueFrom:
        secretKeyRef:
          name: {{ .Values.adminToken.secretName }}
          key: {{ .Values.adminToken.key }}
    - name: GITSYNC_WEBHOOK_URL
      value: http://git-sync:$(PIPEWRIGHT_ADMIN_TOKEN)@127.0.0.1:8080/-/reconcile
    {{- end }}
    {{- with $git.extraEnv }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  resources:
    {{- toYaml $git.resources | nindent 4 }}
  securityContext:
    {{- /* its image's own user, whom ssh finds in /etc/passwd */}}
    runAsUser: 65533
    runAsGroup: 65533
    {{- toYaml .Values.containerSecurityContext | nindent 4 }}
  volumeMounts:
    - name: git
      mountPath: /git
    - name: git-tmp
      mountPath: /tmp
    {{- if or $git.token.secretName $git.ssh.secretName }}
    - name: git-secret
      mountPath: /etc/git-secret
      readOnly: true
    {{- end }}
{{- end }}

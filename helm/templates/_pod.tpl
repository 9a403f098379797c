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
{{- $_ = set $env "PIPEWRIGHT_CREDENTIALS_DIR" "/etc/pipewright/credentials" -}}
{{- $_ = set $env "PIPEWRIGHT_SECRETS_DIR" "/etc/pipewright/secrets" -}}
{{- end -}}
{{- with .Values.platform.alertsBaseUrl -}}{{- $_ = set $env "PIPEWRIGHT_ALERTS_BASE_URL" . -}}{{- end -}}
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
{{- include "pipewright.outboundEnv" . }}
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
{{- range splitList "," (include "pipewright.publicHosts" .) -}}
{{- if . -}}{{- $names = append $names (trimPrefix "*" .) -}}{{- end -}}
{{- end -}}
{{- join "," (concat $names .Values.allowedHosts | uniq) -}}
{{- end }}

{{- define "pipewright.mounts" -}}
- name: ledger
  mountPath: /var/lib/pipewright
- name: {{ ternary "git" "manifests" (ne .Values.source.git.repository "") }}
  mountPath: {{ ternary "/git" "/manifests" (ne .Values.source.git.repository "") }}
  readOnly: true
{{- range .Values.credentials }}
- name: credential-{{ .name | replace "." "-" }}
  mountPath: /etc/pipewright/credentials/{{ .name }}
  readOnly: true
{{- end }}
{{- if .Values.platform.alertsToken.secretName }}
- name: alerts-token
  mountPath: /etc/pipewright/credentials/alerts
  readOnly: true
{{- end }}
{{- range .Values.secrets }}
- name: secret-{{ .name | replace "." "-" }}
  mountPath: /etc/pipewright/secrets/{{ .name }}
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
{{- include "pipewright.outboundMounts" . }}
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
  emptyDir: {{ with $git.sizeLimit }}{ sizeLimit: {{ . }} }{{ else }}{}{{ end }}
- name: git-tmp
  emptyDir: {}
{{- if $git.ca.secretName }}
- name: git-ca
  secret:
    secretName: {{ $git.ca.secretName }}
    defaultMode: 0440
{{- else if $git.ca.configMap }}
- name: git-ca
  configMap:
    name: {{ $git.ca.configMap }}
{{- end }}
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
{{- range .Values.credentials }}
- name: credential-{{ .name | replace "." "-" }}
  secret:
    secretName: {{ .secretName | default .name }}
    optional: true
    defaultMode: 0440
{{- end }}
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
{{- include "pipewright.outboundVolumes" . }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* What the daemon's container runs, and how it is asked; in diagnostic mode it waits, and whoever comes runs what he likes. */}}
{{- define "pipewright.process" -}}
{{- if .Values.diagnosticMode -}}
command:
  - node
  - -e
  - |
    for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(0))
    setInterval(() => {}, 2 ** 30)
    console.log('Diagnostic mode: no daemon runs here.')
{{- else -}}
args:
  - run
  {{- with .Values.extraArgs }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- $probes := dict "startupProbe" "/healthz" "livenessProbe" "/healthz" "readinessProbe" "/readyz" }}
{{- range $probe, $path := $probes }}
{{- with get $.Values $probe }}
{{ $probe }}:
  httpGet: { path: {{ $path }}, port: metrics }
  {{- include "pipewright.withoutNulls" . | nindent 2 }}
{{- end }}
{{- end }}
{{- with .Values.lifecycle }}
lifecycle:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{- define "pipewright.gitSync" -}}
{{- $git := .Values.source.git -}}
- name: git-sync
  image: {{ include "pipewright.image" (list . $git.image) }}
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
    - --http-bind=:9091
    - --http-metrics
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
    - --webhook-backoff=30s
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
          optional: true
    - name: GITSYNC_WEBHOOK_URL
      value: http://git-sync:$(PIPEWRIGHT_ADMIN_TOKEN)@127.0.0.1:8080/-/reconcile
    {{- end }}
    {{- if or $git.ca.secretName $git.ca.configMap }}
    - name: GIT_SSL_CAINFO
      value: /etc/git-ca/{{ $git.ca.key }}
    {{- end }}
    {{- with include "pipewright.proxyEnv" . }}{{ trim . | nindent 4 }}{{ end }}
    {{- with $git.extraEnv }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $git.envFrom }}
  envFrom:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  ports:
    - name: git-sync
      containerPort: 9091
      protocol: TCP
  {{- if not .Values.diagnosticMode }}
  {{- /* `/` is 503 until there is a first checkout, which may be long in coming and is no reason to start again. */}}
  {{- range $probe, $path := dict "livenessProbe" "/metrics" "readinessProbe" "/" }}
  {{- with get $git $probe }}
  {{ $probe }}:
    httpGet: { path: {{ $path }}, port: git-sync }
    {{- include "pipewright.withoutNulls" . | nindent 4 }}
  {{- end }}
  {{- end }}
  {{- end }}
  resources:
    {{- toYaml $git.resources | nindent 4 }}
  securityContext:
    {{- /* The user is its image's own, whom ssh finds in /etc/passwd. */}}
    {{- $shared := omit (.Values.containerSecurityContext | default dict) "runAsUser" "runAsGroup" }}
    {{- include "pipewright.withoutNulls" (merge (dict) ($git.securityContext | default dict) $shared) | nindent 4 }}
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
    {{- if or $git.ca.secretName $git.ca.configMap }}
    - name: git-ca
      mountPath: /etc/git-ca
      readOnly: true
    {{- end }}
    {{- with $git.extraVolumeMounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}

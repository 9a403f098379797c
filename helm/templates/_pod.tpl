{{- define "pipewright.settings" -}}
{{- $lease := include "pipewright.inCluster" . | empty | ternary dict (dict "lease-duration" "15s") -}}
{{- toYaml (merge (dict) (.Values.settings | default dict) (dict "request-timeout" "20s" "shutdown-grace" "25s") $lease) -}}
{{- end }}

{{/* Settings travel as variables: `kubectl exec … pipewright status` has them too. */}}
{{- define "pipewright.env" -}}
{{- $env := dict "PIPEWRIGHT_LISTEN" "[::]:8080" "PIPEWRIGHT_METRICS_LISTEN" "[::]:9090" -}}
{{- /* A sandbox without a source runs the examples of the image. */}}
{{- $volume := include "pipewright.sourceVolume" . | fromYaml | empty | ternary "/app/manifests" "/manifests" -}}
{{- $root := .Values.source.git.repository | empty | ternary $volume "/git/current" -}}
{{- $_ := set $env "PIPEWRIGHT_MANIFESTS" (.Values.source.path | empty | ternary $root (printf "%s/%s" $root (.Values.source.path | default "" | trimSuffix "/"))) -}}
{{- $_ = set $env "PIPEWRIGHT_ALLOWED_HOSTS" (include "pipewright.allowedHosts" .) -}}
{{- $_ = set $env "PIPEWRIGHT_LEDGER_INIT" .Values.ledger.init -}}
{{- if .Values.platform.sandbox -}}
{{- $_ = set $env "PIPEWRIGHT_SANDBOX" "true" -}}
{{- else -}}
{{- $_ = set $env "PIPEWRIGHT_BASE_URL" .Values.platform.baseUrl -}}
{{- $_ = set $env "PIPEWRIGHT_LEDGER" (include "pipewright.inCluster" . | empty | ternary "sqlite:/var/lib/pipewright/ledger.db" (printf "kubernetes:%s" (include "pipewright.fullname" .))) -}}
{{- $_ = set $env "PIPEWRIGHT_CREDENTIALS_DIR" "/etc/pipewright/credentials" -}}
{{- $_ = set $env "PIPEWRIGHT_SECRETS_DIR" "/etc/pipewright/secrets" -}}
{{- end -}}
{{- with .Values.platform.alertsBaseUrl -}}{{- $_ = set $env "PIPEWRIGHT_ALERTS_BASE_URL" . -}}{{- end -}}
{{- if .Values.adminToken.secretName -}}
{{- $_ = set $env "PIPEWRIGHT_ADMIN_TOKEN_FILE" "/etc/pipewright/admin-token/token" -}}
{{- end -}}
{{- if or .Values.tls.ca.configMap .Values.tls.ca.secretName -}}
{{- $_ = set $env "PIPEWRIGHT_CA_FILE" "/etc/pipewright/tls/ca/ca.crt" -}}
{{- end -}}
{{- if .Values.tls.clientCertificate.secretName -}}
{{- $_ = set $env "PIPEWRIGHT_CLIENT_CERT_FILE" "/etc/pipewright/tls/client/tls.crt" -}}
{{- $_ = set $env "PIPEWRIGHT_CLIENT_KEY_FILE" "/etc/pipewright/tls/client/tls.key" -}}
{{- end -}}
{{- range $name, $value := include "pipewright.settings" . | fromYaml -}}
{{- $_ = set $env (printf "PIPEWRIGHT_%s" ($name | upper | replace "-" "_")) (toString $value) -}}
{{- end -}}
{{- range $name, $value := $env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- include "pipewright.proxyEnv" . }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The names of the Service, of the Ingress and of the route. */}}
{{- define "pipewright.allowedHosts" -}}
{{- $service := include "pipewright.fullname" . -}}
{{- $names := list $service -}}
{{- range list "" ".svc" (printf ".svc.%s" .Values.clusterDomain) -}}
{{- $names = append $names (printf "%s.%s%s" $service $.Release.Namespace .) -}}
{{- end -}}
{{- range concat (and .Values.ingress.enabled .Values.ingress.hosts | default list) (and .Values.httpRoute.enabled .Values.httpRoute.hostnames | default list) -}}
{{- $names = append $names (trimPrefix "*" .) -}}
{{- end -}}
{{- join "," (concat $names (.Values.allowedHosts | default list) | uniq) -}}
{{- end }}

{{/* For Pipewright and git-sync. Requests within the pod and the cluster bypass the proxy. */}}
{{- define "pipewright.proxyEnv" -}}
{{- $proxy := .Values.proxy -}}
{{- if or $proxy.secretName $proxy.httpsProxy $proxy.httpProxy }}
{{- range $name, $value := dict "HTTPS_PROXY" $proxy.httpsProxy "HTTP_PROXY" $proxy.httpProxy }}
{{- if $proxy.secretName }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ $proxy.secretName | toYaml }}
      key: {{ $name }}
      optional: true
{{- else if $value }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- $own := list "localhost" "127.0.0.1" "::1" "kubernetes.default" ".svc" (printf ".%s" .Values.clusterDomain) }}
- name: NO_PROXY
  value: {{ concat $own (regexSplit "[,\\s]+" ($proxy.noProxy | default "") -1) | compact | uniq | join "," | quote }}
{{- end }}
{{- end }}

{{/* The Secrets and ConfigMaps that Pipewright reads: each is a volume and a folder. */}}
{{- define "pipewright.files" -}}
{{- range .Values.credentials }}
- name: credential-{{ .name | replace "." "-" }}
  mountPath: /etc/pipewright/credentials/{{ .name }}
  secret: { secretName: {{ .secretName | default .name | toJson }} }
{{- end }}
{{- range .Values.secrets }}
- name: secret-{{ .name | replace "." "-" }}
  mountPath: /etc/pipewright/secrets/{{ .name }}
  secret: { secretName: {{ .secretName | default .name | toJson }} }
{{- end }}
{{- with .Values.adminToken.secretName }}
- name: admin-token
  mountPath: /etc/pipewright/admin-token
  secret: { secretName: {{ toJson . }}, items: [{ key: {{ $.Values.adminToken.key | toJson }}, path: token }] }
{{- end }}
{{- with .Values.tls.ca.secretName }}
- name: tls-ca
  mountPath: /etc/pipewright/tls/ca
  secret: { secretName: {{ toJson . }}, items: [{ key: {{ $.Values.tls.ca.key | toJson }}, path: ca.crt }] }
{{- end }}
{{- with .Values.tls.ca.configMap }}
- name: tls-ca
  mountPath: /etc/pipewright/tls/ca
  configMap: { name: {{ toJson . }}, items: [{ key: {{ $.Values.tls.ca.key | toJson }}, path: ca.crt }] }
{{- end }}
{{- with .Values.tls.clientCertificate.secretName }}
- name: tls-client
  mountPath: /etc/pipewright/tls/client
  secret: { secretName: {{ toJson . }} }
{{- end }}
{{- end }}

{{- define "pipewright.mounts" -}}
{{- include "pipewright.ledgerMounts" . }}
{{- if or .Values.source.git.repository (include "pipewright.sourceVolume" . | fromYaml) }}
- name: {{ .Values.source.git.repository | empty | ternary "manifests" "git" }}
  mountPath: {{ .Values.source.git.repository | empty | ternary "/manifests" "/git" }}
  readOnly: true
{{- end }}
{{- range include "pipewright.files" . | fromYamlArray }}
- { name: {{ .name }}, mountPath: {{ .mountPath }}, readOnly: true }
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "pipewright.sourceVolume" -}}
{{- $configMap := .Values.source.configMap | empty | ternary dict (dict "configMap" (dict "name" .Values.source.configMap)) -}}
{{- include "pipewright.over" (list $configMap (.Values.source.volume | default dict)) -}}
{{- end }}

{{- define "pipewright.volumes" -}}
{{- $git := .Values.source.git -}}
{{- include "pipewright.ledgerVolumes" . }}
{{- if $git.repository }}
- name: git
  emptyDir: {}
- name: git-tmp
  emptyDir: {}
{{- with ($git.token.secretName | default $git.ssh.secretName) }}
- name: git-secret
  secret:
    secretName: {{ . | toYaml }}
    defaultMode: 0440
{{- end }}
{{- else if include "pipewright.sourceVolume" . | fromYaml }}
- name: manifests
  {{- include "pipewright.sourceVolume" . | nindent 2 }}
{{- end }}
{{- /* Optional: Pipewright names a Secret that is missing, and works with the others. */}}
{{- range include "pipewright.files" . | fromYamlArray }}
- name: {{ .name }}
  {{- range $kind, $source := omit . "name" "mountPath" }}
  {{ $kind }}:
    {{- toYaml (merge $source (dict "optional" true) (eq $kind "secret" | ternary (dict "defaultMode" 0440) dict)) | nindent 4 }}
  {{- end }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

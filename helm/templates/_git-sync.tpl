{{/* The container that keeps the checkout current. */}}
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
          name: {{ .Values.adminToken.secretName | toYaml }}
          key: {{ .Values.adminToken.key | toYaml }}
          optional: true
    - name: GITSYNC_WEBHOOK_URL
      value: http://git-sync:$(PIPEWRIGHT_ADMIN_TOKEN)@127.0.0.1:8080/-/reconcile
    {{- end }}
    {{- if or $git.ca.secretName $git.ca.configMap }}
    - name: GIT_SSL_CAINFO
      value: {{ printf "/etc/git-ca/%s" $git.ca.key | toYaml }}
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
    {{- with include "pipewright.withoutNulls" . | fromYaml }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
  {{- end }}
  {{- end }}
  resources:
    {{- include "pipewright.withoutNulls" $git.resources | nindent 4 }}
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

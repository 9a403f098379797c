{{/*
What Kubernetes never changes in a StatefulSet that is there; empty where the cluster is not asked (`helm template`). It is asked
before anything is changed: an upgrade that fails at the StatefulSet has changed the Service and the network policy already.
*/}}
{{- define "pipewright.unchangeable" -}}
{{- $name := include "pipewright.fullname" . -}}
{{- with (lookup "apps/v1" "StatefulSet" .Release.Namespace $name | default dict).spec -}}
{{- $remove := printf "kubectl -n %s delete statefulset %s --cascade=orphan" $.Release.Namespace $name -}}
{{- $changed := include "pipewright.changedClaim" (list $ (.volumeClaimTemplates | default list)) -}}
{{- if or (ne (.podManagementPolicy | default "") "Parallel") (ne (.serviceName | default "") (printf "%s-headless" $name)) -}}
{{- printf "The StatefulSet %s was made by an earlier chart, and Kubernetes never changes its serviceName and podManagementPolicy. Remove it without its pod, and upgrade again: %s. The pod goes on meanwhile, and the claim with the ledger stays." $name $remove -}}
{{- else if ne (toJson .selector.matchLabels) (include "pipewright.selectorLabels" $ | fromYaml | toJson) -}}
{{- printf "The StatefulSet %s was made with the labels %s, and Kubernetes never changes them: set nameOverride back, and keep the name of the release." $name (toJson .selector.matchLabels) -}}
{{- else if $changed -}}
{{- printf "%s is not what the StatefulSet %s was made with, and Kubernetes never changes that. Set it back; or change the claim, remove the StatefulSet without its pod (%s), and upgrade again: \"What cannot be changed later\" in the README of the chart." $changed $name $remove -}}
{{- end -}}
{{- else -}}
{{- include "pipewright.renamed" . -}}
{{- end -}}
{{- end }}

{{/*
A StatefulSet of this release under another name, which the upgrade would remove: its ledger would stay behind. Copies of a parent chart
are told apart by their alias. Only an upgrade that finds no StatefulSet of its own lists others.
*/}}
{{- define "pipewright.renamed" -}}
{{- $name := include "pipewright.fullname" . -}}
{{- if and .Release.IsUpgrade (not .Values.ledger.existingClaim) -}}
{{- range (lookup "apps/v1" "StatefulSet" .Release.Namespace "").items -}}
{{- $labels := .metadata.labels | default dict -}}
{{- $claims := list -}}{{- range .spec.volumeClaimTemplates -}}{{- $claims = append $claims .metadata.name -}}{{- end -}}
{{- /* What a sandbox remembers is of a platform that is made up. */}}
{{- $isTrial := false -}}
{{- range ((.spec.template | default dict).spec | default dict).containers -}}
{{- if eq .name "pipewright" -}}{{- range .env -}}{{- if eq .name "PIPEWRIGHT_SANDBOX" -}}{{- $isTrial = true -}}{{- end -}}{{- end -}}{{- end -}}
{{- end -}}
{{- $isOurs := regexMatch (printf "^%s-[0-9]+[.]" $.Chart.Name) (get $labels "helm.sh/chart") -}}
{{- if and $isOurs (eq (get $labels "app.kubernetes.io/instance") $.Release.Name) (has "ledger" $claims) (not $isTrial) -}}
{{- printf "This upgrade would put a StatefulSet %s in the place of %s, with an empty ledger: pipes that exist would be created a second time. Keep its name, with fullnameOverride: %s, and nameOverride as it was; or keep the ledger, with ledger.existingClaim: ledger-%s-0. Where this is one more copy and the other one stays, give it a claim that you made, in ledger.existingClaim." $name .metadata.name .metadata.name .metadata.name -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Names of the values that make another claim than that of the StatefulSet, (list . its-claim-templates). */}}
{{- define "pipewright.changedClaim" -}}
{{- $ledger := (index . 0).Values.ledger -}}
{{- $changed := list -}}
{{- with index . 1 -}}
{{- $claim := index . 0 -}}
{{- $class := kindIs "string" $ledger.storageClassName | ternary (list $ledger.storageClassName) list -}}
{{- $hadClass := hasKey $claim.spec "storageClassName" | ternary (list $claim.spec.storageClassName) list -}}
{{- if $ledger.existingClaim -}}{{- $changed = append $changed "ledger.existingClaim" -}}
{{- else -}}
{{- if ne (include "pipewright.quantity" $claim.spec.resources.requests.storage) (include "pipewright.quantity" $ledger.size) -}}{{- $changed = append $changed "ledger.size" -}}{{- end -}}
{{- if ne (toJson $class) (toJson $hadClass) -}}{{- $changed = append $changed "ledger.storageClassName" -}}{{- end -}}
{{- if ne (toJson $claim.spec.accessModes) (toJson $ledger.accessModes) -}}{{- $changed = append $changed "ledger.accessModes" -}}{{- end -}}
{{- if ne (toJson ($claim.metadata.annotations | default dict)) (toJson ($ledger.annotations | default dict)) -}}{{- $changed = append $changed "ledger.annotations" -}}{{- end -}}
{{- end -}}
{{- else -}}
{{- if not $ledger.existingClaim -}}{{- $changed = append $changed "ledger.existingClaim" -}}{{- end -}}
{{- end -}}
{{- join ", " $changed -}}
{{- end }}

{{/* A size or a number of processors: Kubernetes may write 1024Mi as 1Gi. */}}
{{- define "pipewright.quantity" -}}
{{- $units := dict "" 1.0 "n" 1e-9 "u" 1e-6 "m" 1e-3 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "E" 1e18 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 "Pi" 1125899906842624.0 "Ei" 1152921504606846976.0 -}}
{{- $quantity := toString . -}}
{{- $unit := regexFind "([numk]|[KMGTPE]i?)$" $quantity -}}
{{- mulf (trimSuffix $unit $quantity | float64) (get $units $unit) -}}
{{- end }}

{{/*
What cannot be changed in what is there; empty where the cluster is not asked (`helm template`). It is asked
before anything is changed: an upgrade that fails at the StatefulSet has changed the Service and the network policy already.
*/}}
{{- define "pipewright.unchangeable" -}}
{{- if include "pipewright.inCluster" . -}}
{{- include "pipewright.unchangeableDeployment" . -}}
{{- else -}}
{{- include "pipewright.unchangeableStatefulSet" . -}}
{{- end -}}
{{- end }}

{{/* With a ledger in the cluster. */}}
{{- define "pipewright.unchangeableDeployment" -}}
{{- $name := include "pipewright.fullname" . -}}
{{- $deployment := lookup "apps/v1" "Deployment" .Release.Namespace $name -}}
{{- $isMove := lookup "apps/v1" "StatefulSet" .Release.Namespace $name -}}
{{- if and $deployment (ne (toJson $deployment.spec.selector.matchLabels) (include "pipewright.selectorLabels" . | fromYaml | toJson)) -}}
{{- printf "The Deployment %s was made with the labels %s, and Kubernetes never changes them: set nameOverride back, and keep the name of the release." $name (toJson $deployment.spec.selector.matchLabels) -}}
{{- else if and $isMove (not .Values.diagnosticMode) -}}
{{- printf "The ledger is on a claim, and the StatefulSet %s works with it: with an empty one in the cluster, or beside each other, pipes that exist would be created a second time. Move it, as \"From a file into the cluster\" in the README of the chart says, with diagnosticMode=true meanwhile." $name -}}
{{- else if not (or .Values.diagnosticMode (lookup "v1" "Secret" .Release.Namespace $name)) -}}
{{- $claim := include "pipewright.claim" . -}}
{{- if lookup "v1" "PersistentVolumeClaim" .Release.Namespace $claim -}}
{{- printf "There is no ledger %s in the cluster yet, and there is one on the claim %s: pipes that are in it would be created a second time. Import it first, as \"From a file into the cluster\" in the README of the chart says; or, if it is of no use, delete the claim: kubectl -n %s delete pvc %s." $name $claim .Release.Namespace $claim -}}
{{- else -}}
{{- include "pipewright.renamedDeployment" . -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* A Deployment of this release under another name: its ledger is called otherwise, too, and would stay behind. */}}
{{- define "pipewright.renamedDeployment" -}}
{{- $name := include "pipewright.fullname" . -}}
{{- if .Release.IsUpgrade -}}
{{- range (lookup "apps/v1" "Deployment" .Release.Namespace "").items -}}
{{- if and (include "pipewright.isOurs" (list $ .)) (ne .metadata.name $name) -}}
{{- printf "This upgrade would put a Deployment %s in the place of %s, with an empty ledger: pipes that exist would be created a second time. Keep its name, with fullnameOverride: %s, and nameOverride as it was; or export its ledger, and import it under the new name." $name .metadata.name .metadata.name -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Not empty for an object, (list . object), of this release and of a chart of this name. */}}
{{- define "pipewright.isOurs" -}}
{{- $root := index . 0 -}}
{{- $labels := (index . 1).metadata.labels | default dict -}}
{{- if and (regexMatch (printf "^%s-[0-9]+[.]" $root.Chart.Name) (get $labels "helm.sh/chart" | default "")) (eq (get $labels "app.kubernetes.io/instance" | default "") $root.Release.Name) -}}yes{{- end -}}
{{- end }}

{{/* With a ledger in a file. */}}
{{- define "pipewright.unchangeableStatefulSet" -}}
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
{{- if and $.Release.IsUpgrade (not $.Values.diagnosticMode) (lookup "apps/v1" "Deployment" $.Release.Namespace $name) -}}
{{- printf "The ledger is in the cluster, and the Deployment %s works with it: with an empty one on a claim, or beside each other, pipes that exist would be created a second time. Set ledger.type back to kubernetes; or move it, as \"Back into a file\" in the README of the chart says, with diagnosticMode=true meanwhile." $name -}}
{{- else -}}
{{- include "pipewright.renamed" $ -}}
{{- end -}}
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

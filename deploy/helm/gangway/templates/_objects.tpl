{{/*
The objects are those of deploy/volcano, read from its files and adapted to the values: nothing is written twice.
*/}}

{{- define "gangway.image" -}}
{{- with .Values.image -}}
{{- if .registry }}{{ trimSuffix "/" .registry }}/{{ end }}{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end -}}

{{/* Every object of a file. root, file; caBundle for webhooks. */}}
{{- define "gangway.objects" -}}
{{- $text := .root.Files.Get .file -}}
{{- if not $text }}{{ fail (printf "the chart lacks %s" .file) }}{{ end -}}
{{- range regexSplit "(?m)^---[ \\t]*$" $text -1 }}
{{- $object := fromYaml . }}
{{- if hasKey $object "Error" }}{{ fail (printf "%s: %s" $.file $object.Error) }}{{ end }}
{{- if and $object.kind (not (and (eq $object.kind "NetworkPolicy") (not $.root.Values.networkPolicy.enabled))) }}
{{- include "gangway.adapt" (dict "root" $.root "object" $object "caBundle" ($.caBundle | default "")) }}
---
{{ toYaml $object }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Changes an object in place; writes nothing. */}}
{{- define "gangway.adapt" -}}
{{- $ns := .root.Release.Namespace -}}
{{- $object := .object -}}
{{- $values := .root.Values -}}
{{- if eq ($object.metadata.namespace | default "") "gangway-system" }}{{ $_ := set $object.metadata "namespace" $ns }}{{ end -}}
{{- range $object.subjects }}{{ $_ := set . "namespace" $ns }}{{ end -}}
{{- if eq $object.kind "Namespace" }}{{ $_ := set $object.metadata "name" $ns }}{{ end -}}
{{- if eq $object.kind "Deployment" }}{{ include "gangway.deployment" . }}{{ end -}}
{{- if eq $object.kind "NetworkPolicy" }}{{ include "gangway.policy" . }}{{ end -}}
{{- if hasSuffix "WebhookConfiguration" $object.kind -}}
  {{- $_ := set $object.metadata.annotations "cert-manager.io/inject-ca-from" (printf "%s/gangway-webhook" $ns) -}}
  {{- if .caBundle }}{{ $_ := unset $object.metadata "annotations" }}{{ end -}}
  {{- range $object.webhooks -}}
    {{- $_ := set .clientConfig.service "namespace" $ns -}}
    {{- if $.caBundle }}{{ $_ := set .clientConfig "caBundle" $.caBundle }}{{ end -}}
  {{- end -}}
{{- end -}}
{{- if eq $values.mode "one-namespace" }}{{ include "gangway.one-namespace" . }}{{ end -}}
{{- end -}}

{{- define "gangway.deployment" -}}
{{- $component := index .object.metadata.labels "app.kubernetes.io/component" -}}
{{- $all := .root.Values -}}
{{- $own := index $all $component -}}
{{- $pod := .object.spec.template.spec -}}
{{- $container := index $pod.containers 0 -}}
{{- $_ := set .object.spec "replicas" (int $own.replicas) -}}
{{- $_ := set $container "image" (include "gangway.image" .root) -}}
{{- $_ := set $container "imagePullPolicy" $all.image.pullPolicy -}}
{{- if $own.resources }}{{ $_ := set $container "resources" $own.resources }}{{ end -}}
{{- $priority := eq $component "shadow" | ternary ($own.priorityClassName | default "") $all.priorityClassName -}}
{{- if $priority }}{{ $_ := set $pod "priorityClassName" $priority }}{{ else }}{{ $_ := unset $pod "priorityClassName" }}{{ end -}}
{{- range $key := list "nodeSelector" "tolerations" "affinity" -}}
  {{- with index $all $key }}{{ $_ := set $pod $key . }}{{ end -}}
{{- end -}}
{{- if $all.image.pullSecrets -}}
  {{- $names := list }}{{ range $all.image.pullSecrets }}{{ $names = append $names (dict "name" .) }}{{ end -}}
  {{- $_ := set $pod "imagePullSecrets" $names -}}
{{- end -}}
{{- if $all.podAnnotations }}{{ $_ := set .object.spec.template.metadata "annotations" $all.podAnnotations }}{{ end -}}
{{- $args := $container.args -}}
{{- if and (eq $component "controller") (eq $all.mode "beside-volcano") }}{{ $args = append $args "--only=paddlejob" }}{{ end -}}
{{- if and (ne $component "extender") (eq $all.mode "one-namespace") }}{{ $args = append $args (printf "--namespaces=%s" $all.jobsNamespace) }}{{ end -}}
{{- if and (eq $component "controller") $all.webhook.enabled -}}
  {{- $args = concat $args (list "--webhook=0.0.0.0:9443" "--webhook-tls-cert=/etc/gangway/webhook/tls.crt" "--webhook-tls-key=/etc/gangway/webhook/tls.key") -}}
  {{- $_ := set $container "ports" (append $container.ports (dict "name" "webhook" "containerPort" 9443)) -}}
  {{- $_ := set $container "volumeMounts" (list (dict "name" "webhook-tls" "mountPath" "/etc/gangway/webhook" "readOnly" true)) -}}
  {{- $_ := set $pod "volumes" (list (dict "name" "webhook-tls" "secret" (dict "secretName" $all.webhook.secretName))) -}}
{{- end -}}
{{- if and (eq $component "controller") $all.notifications.url -}}
  {{- $told := $all.notifications -}}
  {{- $args = append $args (printf "--notify-url=%s" $told.url) -}}
  {{- if $told.events }}{{ $args = append $args (printf "--notify-events=%s" (join "," $told.events)) }}{{ end -}}
  {{- if $told.waiting }}{{ $args = append $args (printf "--notify-waiting=%s" $told.waiting) }}{{ end -}}
  {{- if $told.cluster }}{{ $args = append $args (printf "--notify-cluster=%s" $told.cluster) }}{{ end -}}
  {{- if $told.secretName -}}
    {{- $args = append $args "--notify-token-file=/etc/gangway/notify/token" -}}
    {{- $_ := set $container "volumeMounts" (append ($container.volumeMounts | default list) (dict "name" "notify-token" "mountPath" "/etc/gangway/notify" "readOnly" true)) -}}
    {{- $_ := set $pod "volumes" (append ($pod.volumes | default list) (dict "name" "notify-token" "secret" (dict "secretName" $told.secretName))) -}}
  {{- end -}}
{{- end -}}
{{- if eq $component "extender" }}{{ $_ := set (index $pod.volumes 0).secret "secretName" $all.extender.secretName }}{{ end -}}
{{- $_ := set $container "args" (concat $args $own.extraArgs) -}}
{{- end -}}

{{- define "gangway.policy" -}}
{{- $component := index .object.metadata.labels "app.kubernetes.io/component" -}}
{{- if and .root.Values.networkPolicy.apiServer .object.spec.egress -}}
  {{- $to := list }}{{ range .root.Values.networkPolicy.apiServer }}{{ $to = append $to (dict "ipBlock" (dict "cidr" .)) }}{{ end -}}
  {{- $_ := set (index .object.spec.egress 0) "to" $to -}}
{{- end -}}
{{- if and (eq $component "controller") .root.Values.notifications.url .root.Values.notifications.egress -}}
  {{- $to := list }}{{ range .root.Values.notifications.egress }}{{ $to = append $to (dict "ipBlock" (dict "cidr" .)) }}{{ end -}}
  {{- $_ := set .object.spec "egress" (append .object.spec.egress (dict "to" $to "ports" (list (dict "port" 443 "protocol" "TCP")))) -}}
{{- end -}}
{{- if and (eq $component "controller") .root.Values.webhook.enabled -}}
  {{- $_ := set .object.spec "ingress" (append .object.spec.ingress (dict "ports" (list (dict "port" 9443 "protocol" "TCP")))) -}}
{{- end -}}
{{- end -}}

{{/* As deploy/volcano/overlays/paddle-only: rights on what has a namespace are Roles in the one of the jobs. Who serves one namespace judges that one alone (and Queues, which have none). */}}
{{- define "gangway.one-namespace" -}}
{{- $object := .object -}}
{{- $jobs := .root.Values.jobsNamespace -}}
{{- if and (hasPrefix "ClusterRole" $object.kind) (hasSuffix "-jobs" $object.metadata.name) -}}
  {{- $_ := set $object "kind" (trimPrefix "Cluster" $object.kind) -}}
  {{- $_ := set $object.metadata "namespace" $jobs -}}
  {{- if $object.roleRef }}{{ $_ := set $object.roleRef "kind" "Role" }}{{ end -}}
{{- else if hasSuffix "WebhookConfiguration" $object.kind -}}
  {{- range $object.webhooks }}{{ $_ := set . "namespaceSelector" (dict "matchLabels" (dict "kubernetes.io/metadata.name" $jobs)) }}{{ end -}}
{{- else if eq $object.kind "ClusterRole" -}}
  {{- range $object.rules }}{{ if has "namespaces" .resources }}{{ $_ := set . "resourceNames" (list $jobs) }}{{ end }}{{ end -}}
{{- end -}}
{{- end -}}

{{/* A Secret with a certificate of an authority of its own; the one that is there stays. root, name, service; gives tls.crt, tls.key, ca.crt in base64. */}}
{{- define "gangway.certificate" -}}
{{- $there := lookup "v1" "Secret" .root.Release.Namespace .name -}}
{{- if and $there (hasKey ($there.data | default dict) "ca.crt") -}}
{{ pick $there.data "tls.crt" "tls.key" "ca.crt" | toYaml }}
{{- else -}}
{{- $ca := genCA (printf "%s-ca" .service) 3650 -}}
{{- $name := printf "%s.%s.svc" .service .root.Release.Namespace -}}
{{- $made := genSignedCert $name nil (list $name) 3650 $ca -}}
{{ dict "tls.crt" ($made.Cert | b64enc) "tls.key" ($made.Key | b64enc) "ca.crt" ($ca.Cert | b64enc) | toYaml }}
{{- end -}}
{{- end -}}

{{/* Whether a type is this release's to write: it is not there, or it is ours. */}}
{{- define "gangway.owns-type" -}}
{{- $there := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" .name -}}
{{- $notes := dig "metadata" "annotations" dict ($there | default dict) -}}
{{- if or (not $there) (and (eq (get $notes "meta.helm.sh/release-name") .root.Release.Name) (eq (get $notes "meta.helm.sh/release-namespace") .root.Release.Namespace)) }}yes{{ end -}}
{{- end -}}

{{/* Files of the types that the values ask for. */}}
{{- define "gangway.type-files" -}}
{{- if ne .Values.mode "shadow" -}}
{{- if and .Values.crds.volcano (ne .Values.mode "beside-volcano") }}{{ range $file, $_ := .Files.Glob "files/crds/*.volcano.sh.yaml" }}{{ $file }} {{ end }}{{ end -}}
{{- if .Values.crds.paddle }}files/crds-paddle/paddlejobs.batch.paddlepaddle.org.yaml {{ end -}}
{{- if .Values.crds.kubeflow }}files/crds-kubeflow/paddlejobs.kubeflow.org.yaml {{ end -}}
{{- end -}}
{{- end -}}

"""The words of the protocol: groups, labels, annotations, conditions, reasons."""

GROUP = "infrastructure.cluster.x-k8s.io"
API_VERSION = f"{GROUP}/v1beta1"

LABEL_CLUSTER = "cluster.x-k8s.io/cluster-name"
LABEL_BYO_MACHINE = f"byoh.{GROUP}/byomachine-name"

ANNOTATION_UNREGISTERING = f"byoh.{GROUP}/unregistering"
ANNOTATION_ENDPOINT = f"byoh.{GROUP}/endpointip"
ANNOTATION_VERSION = f"byoh.{GROUP}/k8sversion"
ANNOTATION_REGISTRY = f"byoh.{GROUP}/bundle-registry"
ANNOTATION_CLEANUP_STARTED = f"byoh.{GROUP}/cleanup-started-at"
ANNOTATION_LEASE = f"byohost.{GROUP}/lease"
ANNOTATION_PAUSED = "cluster.x-k8s.io/paused"
ANNOTATION_PROXIES = tuple(f"{GROUP}/{name}" for name in ("http-proxy", "https-proxy", "no-proxy"))

FINALIZER_MACHINE = f"byomachine.{GROUP}"
FINALIZER_CLUSTER = f"byocluster.{GROUP}"
FINALIZER_INSTALLER = f"k8sinstallerconfig.{GROUP}"

CONDITION_HOST_READY = "BYOHostReady"  # on a ByoMachine
CONDITION_BOOTSTRAPPED = "K8sNodeBootstrapSucceeded"  # on a ByoHost

WAITING_FOR_INFRASTRUCTURE = "WaitingForClusterInfrastructure"
WAITING_FOR_BOOTSTRAP_DATA = "WaitingForBootstrapDataSecret"
NO_HOSTS = "BYOHostsUnavailable"
NO_INSTALLATION_SECRET = "InstallationSecretNotAvailable"
WAITING_FOR_NODE = "WaitingForNodeRef"
PAUSED = "ClusterOrResourcePaused"

JOIN_TLS = "tlsBootstrap"
BOOTSTRAP_GROUP = "system:bootstrappers:byoh"

"""Which certificate requests the manager approves: by name and signer, whoever asks. On purpose."""

import copy

from testbed.standin.objects import at

REASON = "Approved by ByoAdmission Controller"


def is_wanted(request: dict) -> bool:
    signer, name = request["spec"]["signerName"], request["metadata"]["name"]
    if at(request, "status", "conditions"):  # already approved or denied
        return False
    if signer == "kubernetes.io/kube-apiserver-client":
        return name.startswith(("byoh-csr-", "node-csr-"))
    return signer in ("kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving")


def approved(request: dict) -> dict:
    request = copy.deepcopy(request)
    request["status"] = {"conditions": [{"type": "Approved", "status": "True", "reason": REASON}]}
    return request

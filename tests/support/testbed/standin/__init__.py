"""A stand-in for the manager of the BYOH provider's Kubexm mode, which no registry offers.

It plays the manager's part towards agents, Cluster API and users, request by request: attach and
release in two patches, the bootstrap secret, approval of certificate requests, forced release.
Where that manager has a defect that an agent meets, the defect is here too, and a comment says so.

It is written from the protocol's description alone and shares nothing with the product: a mistake
in one is not repeated by the other. Decisions are pure functions over plain objects; `client` and
the controllers around them are thin.
"""

"""What the operators' own kinds may say, as far as the chart says it: from their documents, and closed to all else.

kubernetes-validate knows what Kubernetes itself defines. Every field here is one of CloudNativePG's API reference, and
of KEDA's pages on ScaledObject and its scaler of Postgres.
"""

from typing import Any

type Schema = dict[str, Any]

TEXT: Schema = {"type": "string", "minLength": 1}
NAME: Schema = {"type": "string", "pattern": "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"}
COUNT: Schema = {"type": "integer", "minimum": 0}
FLAG: Schema = {"type": "boolean"}
TEXTS: Schema = {"type": "object", "additionalProperties": {"type": "string"}}
QUANTITY: Schema = {"type": "string", "pattern": "^[0-9]+(\\.[0-9]+)?(m|Ki|Mi|Gi|Ti)?$"}


def closed(required: str = "", **fields: Schema) -> Schema:
    """Return the schema of an object that has no other fields; `required`: those that it must have."""
    return {"type": "object", "additionalProperties": False, "required": required.split(), "properties": fields}


def one_of(*values: str) -> Schema:
    """Return the schema of a word."""
    return {"enum": [*values]}


def many(item: Schema) -> Schema:
    """Return the schema of a list with something in it."""
    return {"type": "array", "minItems": 1, "items": item}


_AMOUNTS: Schema = {"type": "object", "additionalProperties": QUANTITY}
_METADATA = closed("name labels", name=NAME, labels=TEXTS, annotations=TEXTS)


def _kind(api: str, kind: str, spec: Schema) -> Schema:
    return closed(
        "apiVersion kind metadata spec", apiVersion=one_of(api), kind=one_of(kind), metadata=_METADATA, spec=spec
    )


_ROLE = closed(
    "name",
    name=TEXT,
    ensure=one_of("present", "absent"),
    login=FLAG,
    inherit=FLAG,
    inRoles=many(TEXT),
    passwordSecret=closed("name", name=NAME),
)
_CLUSTER = closed(
    "instances storage",
    instances={"type": "integer", "minimum": 1},
    imageName=TEXT,
    enableSuperuserAccess=FLAG,
    primaryUpdateStrategy=one_of("unsupervised", "supervised"),
    storage=closed("size", size=QUANTITY, storageClass=TEXT),
    resources=closed(requests=_AMOUNTS, limits=_AMOUNTS),
    affinity=closed(enablePodAntiAffinity=FLAG, podAntiAffinityType=one_of("preferred", "required"), topologyKey=TEXT),
    postgresql=closed(
        parameters=TEXTS,
        synchronous=closed(
            "method number",
            method=one_of("any", "first"),
            number={"type": "integer", "minimum": 1},
            dataDurability=one_of("required", "preferred"),
        ),
    ),
    bootstrap=closed(initdb=closed(database=TEXT, owner=TEXT, postInitApplicationSQL=many(TEXT))),
    managed=closed(roles=many(_ROLE)),
)
_POSTGRES_BY_FIELDS = closed(
    "query targetQueryValue host port userName passwordFromEnv dbName sslmode",
    query=TEXT,
    targetQueryValue=TEXT,
    host=TEXT,
    port=TEXT,
    userName=TEXT,
    passwordFromEnv=TEXT,
    dbName=TEXT,
    sslmode=one_of("disable", "allow", "prefer", "require", "verify-ca", "verify-full"),
)
_POSTGRES_BY_ADDRESS = closed(
    "query targetQueryValue connectionFromEnv", query=TEXT, targetQueryValue=TEXT, connectionFromEnv=TEXT
)
_RULES = closed(
    stabilizationWindowSeconds={"type": "integer", "minimum": 0, "maximum": 3600},
    policies=many(
        closed(
            "type value periodSeconds",
            type=one_of("Pods", "Percent"),
            value={"type": "integer", "minimum": 1},
            periodSeconds={"type": "integer", "minimum": 1, "maximum": 1800},
        )
    ),
)
_SCALED = closed(
    "scaleTargetRef triggers",
    scaleTargetRef=closed("name", name=NAME),
    minReplicaCount=COUNT,
    maxReplicaCount=COUNT,
    pollingInterval={"type": "integer", "minimum": 1},
    fallback=closed(
        "failureThreshold replicas",
        failureThreshold=COUNT,
        replicas=COUNT,
        behavior=one_of("static", "currentReplicas", "currentReplicasIfHigher", "currentReplicasIfLower"),
    ),
    advanced=closed(horizontalPodAutoscalerConfig=closed(behavior=closed(scaleUp=_RULES, scaleDown=_RULES))),
    triggers=many(
        closed(
            "type metadata",
            type=one_of("postgresql"),
            metricType=one_of("AverageValue", "Value"),
            metadata={"oneOf": [_POSTGRES_BY_FIELDS, _POSTGRES_BY_ADDRESS]},
        )
    ),
)

OPERATORS: dict[str, Schema] = {
    "postgresql.cnpg.io/v1": _kind("postgresql.cnpg.io/v1", "Cluster", _CLUSTER),
    "keda.sh/v1alpha1": _kind("keda.sh/v1alpha1", "ScaledObject", _SCALED),
}
"""By apiVersion, of which the chart uses one kind each."""

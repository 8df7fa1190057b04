"""The OpenAPI description, made from the table of endpoints and the types in it, so that it cannot be wrong."""

import re
from typing import Any

import msgspec

import manyhands
from manyhands.readers.json_schema import Schema
from manyhands.surfaces.api.endpoints import ENDPOINTS, PREFIX, Endpoint
from manyhands.surfaces.api.refusals import JSON, Refusal

REFUSALS = {
    400: "The body is not JSON, or the query has too many fields",
    401: "The token is missing or wrong",
    403: "The request names another host or comes from another origin",
    404: "There is no such run, task or host",
    409: "This cannot be done in the state that the thing is in",
    413: "The body is too large",
    414: "The query is too long",
    415: "The content type of the body is not JSON",
    422: "The query or the body does not match this description",
    429: "Too many requests of this kind at once",
    503: "The store or the journal is busy or broken; try again later",
}
ANYWHERE = (400, 401, 403, 414, 422)
WITH_BODY = (413, 415, 503)
_IN_PATH = re.compile(r"\{(\w+)\}")
_NAME: Schema = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": r"^[^/\s]+$"}


def description() -> Schema:
    types = [one for endpoint in ENDPOINTS for one in (endpoint.answer, endpoint.body) if not isinstance(one, str)]
    types = [Refusal, *dict.fromkeys(one for one in types if one is not None)]
    schemas, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    schema_of = dict(zip(types, schemas, strict=True))
    paths: dict[str, Schema] = {}
    for endpoint in ENDPOINTS:
        operation = _operation(endpoint, schema_of)
        paths.setdefault(PREFIX + endpoint.path, {})[endpoint.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "manyhands",
            "version": manyhands.__version__,
            "description": "The runs, tasks, hosts and lanes of one dispatcher, and the commands that it takes.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(endpoint: Endpoint, schema_of: dict[Any, Schema]) -> Schema:
    operation: Schema = {
        "summary": endpoint.summary,
        "operationId": re.sub(r"\W+", "_", f"{endpoint.method.lower()}{endpoint.path}").strip("_"),
        "parameters": [*_path_parameters(endpoint.path), *_query_parameters(endpoint.query)],
        "responses": _responses(endpoint, schema_of),
        # On loopback, reading needs no token.
        "security": [{"token": []}] if endpoint.method != "GET" else [{}, {"token": []}],
    }
    if endpoint.body is not None:
        content = {JSON: {"schema": schema_of[endpoint.body]}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _path_parameters(path: str) -> list[Schema]:
    return [{"name": name, "in": "path", "required": True, "schema": _NAME} for name in _IN_PATH.findall(path)]


def _query_parameters(query: Any) -> list[Schema]:
    (reference,), components = msgspec.json.schema_components([query], ref_template="{name}")
    fields = components[reference["$ref"]].get("properties", {})
    required = components[reference["$ref"]].get("required", ())
    return [
        {"name": name, "in": "query", "required": name in required, "schema": _plain(schema, components)}
        for name, schema in fields.items()
    ]


def _plain(schema: Schema, components: dict[str, Schema]) -> Schema:
    """The schema of a query parameter. It has no `null`: leaving the parameter out means the same."""
    if "$ref" in schema:
        return components[schema["$ref"]]
    some = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    if len(some) == 1:
        schema = _plain(some[0], components)
    return {key: value for key, value in schema.items() if key != "default" or value is not None}


def _responses(endpoint: Endpoint, schema_of: dict[Any, Schema]) -> Schema:
    if isinstance(endpoint.answer, str):
        content: Schema = {endpoint.answer: {"schema": {"type": "string"}}}
    else:
        content = {JSON: {"schema": schema_of[endpoint.answer]}}
    responses: Schema = {"200": {"description": "The answer", "content": content}}
    refused = {JSON: {"schema": schema_of[Refusal]}}
    for status in sorted({*ANYWHERE, *endpoint.refusals, *(WITH_BODY if endpoint.body is not None else ())}):
        responses[str(status)] = {"description": REFUSALS[status], "content": refused}
    return responses

"""The schema of scenarios for editors.

For a table with variants, JSON Schema's `oneOf` lets a validator report only that no variant
matches. Here the key that selects the variant is checked first, and then the table against that
variant alone, so that a message names the wrong key. The keys of all variants are offered.
"""

from typing import Any

Schema = dict[str, Any]


def for_editors(schema: Schema) -> Schema:
    """Returns the schema with its variants distinguished by the key that selects them.

    The settings of a flow's transport may be among the keys of the flow. There, a key accepts the
    names that any transport defines for it.
    """
    changed: Schema = _dispatch(schema)
    flow, flat = schema["properties"]["flow"]["items"]["properties"], changed["properties"]["flow"]["items"]["properties"]
    names: dict[str, list[str]] = {}
    for transport in flow["transport"]["oneOf"]:
        for name, value in transport.get("properties", {}).items():
            names.setdefault(name, []).extend(value.get("enum", ()))
    for name, values in names.items():
        if "enum" in flat.get(name, {}):
            flat[name] = {"description": flow[name].get("description", ""), "enum": list(dict.fromkeys(values))}
    return changed


def _dispatch(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_dispatch(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    inside = {key: _dispatch(value) for key, value in schema.items()}
    variants = inside.get("oneOf", [])
    tags = [_tag(variant) for variant in variants]
    tagged = [(tag, variant) for tag, variant in zip(tags, variants, strict=True) if tag is not None]
    if len(tagged) < 2 or len({tag for tag, _ in tagged}) > 1:
        return inside
    return _dispatched(inside, tagged[0][0], tagged, [one for tag, one in zip(tags, variants, strict=True) if tag is None])


def _tag(variant: Schema) -> str | None:
    """Returns the key whose value is fixed in a variant."""
    return next((name for name, value in variant.get("properties", {}).items() if "const" in value), None)


def _dispatched(schema: Schema, tag: str, tagged: list[tuple[str, Schema]], others: list[Schema]) -> Schema:
    names = [variant["properties"][tag]["const"] for _, variant in tagged]
    meanings = [variant.get("description", "") for _, variant in tagged]
    offered: dict[str, Schema] = {}
    for _, variant in tagged:
        for name, value in variant["properties"].items():
            # The rules below check this key. If the variants differ, this entry only offers the key
            # for completion.
            first = offered.setdefault(name, value)
            offered[name] = first if first == value else {"description": first.get("description", "")}
    offered[tag] = {"enum": names, "x-taplo": {"docs": {"enumValues": meanings}}}
    rest = {key: value for key, value in schema.items() if key != "oneOf"}
    # A shorthand in the form of a table has a single key, which names the variant.
    pairs = [other for other in others if other.get("type") == "object"]
    is_table = {"type": "object"}
    is_pair: Schema = {"anyOf": [{"required": other.get("required", [])} for other in pairs]} if pairs else {"not": {}}
    rules: list[Schema] = [
        {"if": {**is_table, "required": [tag], "properties": {tag: {"const": name}}}, "then": variant}
        for name, (_, variant) in zip(names, tagged, strict=True)
    ]
    rules.append({"if": {**is_table, "not": is_pair}, "then": {"required": [tag], "properties": {tag: {"enum": names}}}})
    rules += [
        {"if": {**is_table, "required": other.get("required", []), "not": {"required": [tag]}}, "then": other} for other in pairs
    ]
    texts = [other for other in others if other not in pairs]
    rules.append({"if": {"not": is_table}, "then": {"anyOf": texts} if len(texts) > 1 else texts[0] if texts else is_table})
    return {**rest, "properties": offered, "allOf": rules}

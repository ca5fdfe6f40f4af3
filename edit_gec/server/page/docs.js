// The OpenAPI document of this server, to be read.
"use strict";

function node(name, attributes = {}, ...children) {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
}

function kind(schema) {
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.anyOf) return schema.anyOf.map(kind).join(" or ");
  return schema.type === "array" ? `list of ${kind(schema.items)}` : schema.type || "any";
}

function fields(schema) {
  const rows = Object.entries(schema.properties || {}).map(([name, field]) =>
    node("tr", {}, node("td", {}, node("code", {}, name)), node("td", {}, kind(field)),
      node("td", {}, schema.required?.includes(name) ? "required" : ""), node("td", {}, field.description || "")));
  return node("table", {}, ...rows);
}

function operation(method, path, what, schemas) {
  const shown = node("section", { className: "operation" },
    node("h2", {}, node("code", {}, `${method.toUpperCase()} ${path}`)), node("p", {}, what.description || what.summary));
  const parameters = (what.parameters || []).map((p) => [p.name, { ...p.schema, description: p.description }]);
  if (parameters.length) shown.append(fields({ properties: Object.fromEntries(parameters) }));
  for (const [type, { schema }] of Object.entries(what.requestBody?.content || {}))
    shown.append(node("p", { className: "quiet" }, type), fields(schema.$ref ? schemas[kind(schema)] : schema));
  const answers = Object.entries(what.responses).map(([status, { description, content }]) => {
    const types = Object.entries(content || {}).map(([type, { schema }]) => `${type} ${schema ? kind(schema) : ""}`);
    return node("tr", {}, node("td", {}, status), node("td", {}, description), node("td", {}, types.join(", ")));
  });
  shown.append(node("p", { className: "quiet" }, "answers"), node("table", {}, ...answers));
  return shown;
}

async function show() {
  const document_ = await (await fetch("openapi.json")).json();
  const schemas = document_.components.schemas;
  const place = document.getElementById("operations");
  for (const [path, methods] of Object.entries(document_.paths))
    for (const [method, what] of Object.entries(methods)) place.append(operation(method, path, what, schemas));
  for (const [name, schema] of Object.entries(schemas))
    place.append(node("section", { className: "operation" }, node("h2", {}, name), fields(schema)));
}

show();

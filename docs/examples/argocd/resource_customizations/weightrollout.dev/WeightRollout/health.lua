-- Health of a WeightRollout for Argo CD: docs/gitops.md says how to install it.
-- Progressing: under way, or not seen yet. Suspended: waits for a person, on purpose.
-- Degraded: does not go on by itself. Healthy: every pod serves what the spec says, proven.
local function health(status, message)
  return {status = status, message = message or ""}
end

local metadata, status = obj.metadata, obj.status
if metadata.deletionTimestamp ~= nil then
  return health("Progressing", "being deleted; its pods go on serving what they serve")
end
if status == nil or status.conditions == nil then
  return health("Progressing", "no operator has seen it yet")
end
if status.observedGeneration ~= metadata.generation then
  return health("Progressing", "the operator has not seen the newest spec yet")
end

local ready, stalled
for _, condition in ipairs(status.conditions) do
  if condition.type == "Ready" then ready = condition end
  if condition.type == "Stalled" then stalled = condition end
end

if stalled ~= nil and stalled.status == "True" then
  return health("Degraded", status.message)
end
if ready == nil then
  return health("Progressing", status.message)
end
if ready.status == "True" then
  return health("Healthy", status.message)
end
if ready.reason == "Paused" or ready.reason == "Suspended" then
  return health("Suspended", status.message)
end
return health("Progressing", status.message)

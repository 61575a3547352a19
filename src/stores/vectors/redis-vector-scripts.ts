// Scripts of RedisVectorStore: each operation is one, so that it sees and leaves a namespace whole.
// KEYS: vectors (a vector set), texts and metadata by id (hashes), ids (a sorted set), and ids by the document
// of their chunk (a sorted set of `document NUL id`).

/** The functions that scripts share. Texts are compared by bytes: `<` would follow the locale of the server. */
const SHARED = `
local function less(a, b)
  for at = 1, math.min(#a, #b) do
    local x, y = string.byte(a, at), string.byte(b, at)
    if x ~= y then return x < y end
  end
  return #a < #b
end
local function has(list, value)
  for _, each in ipairs(list) do if each == value then return true end end
  return false
end
local accepts
accepts = function(condition, fields)
  local kind, value = condition.type, fields[condition.key or '']
  if kind == 'all' then
    for _, each in ipairs(condition.conditions) do if not accepts(each, fields) then return false end end
    return true
  elseif kind == 'any' then
    for _, each in ipairs(condition.conditions) do if accepts(each, fields) then return true end end
    return false
  elseif kind == 'not' then return not accepts(condition.condition, fields)
  elseif kind == 'in' then return value ~= nil and has(condition.values, value)
  elseif kind == 'contains' then return type(value) == 'table' and has(value, condition.value)
  elseif type(value) ~= type(condition.value) then return false
  end
  local bound, isText = condition.value, type(value) == 'string'
  local below = isText and less(value, bound) or not isText and value < bound
  local above = isText and less(bound, value) or not isText and value > bound
  if kind == 'lt' then return below elseif kind == 'lte' then return not above
  elseif kind == 'gt' then return above else return not below end
end
local function fieldsOf(id)
  local metadata = redis.call('HGET', KEYS[3], id)
  return metadata and cjson.decode(metadata) or {}
end
local function passes(condition, id) return not condition or accepts(condition, fieldsOf(id)) end
local function conditionOf(text) return text ~= '' and cjson.decode(text) or nil end
local function selected(condition, document)
  local ids = {}
  if document ~= '' then
    local start = string.sub(document, 2) .. '\\0'
    for _, member in ipairs(redis.call('ZRANGEBYLEX', KEYS[5], '[' .. start, '(' .. string.sub(document, 2) .. '\\1')) do
      ids[#ids + 1] = string.sub(member, #start + 1)
    end
  else
    for _, id in ipairs(redis.call('HKEYS', KEYS[2])) do
      if passes(condition, id) then ids[#ids + 1] = id end
    end
  end
  return ids
end
local function remove(id)
  local document = fieldsOf(id).document
  if type(document) == 'string' then redis.call('ZREM', KEYS[5], document .. '\\0' .. id) end
  redis.call('VREM', KEYS[1], id)
  redis.call('HDEL', KEYS[2], id)
  redis.call('HDEL', KEYS[3], id)
  redis.call('ZREM', KEYS[4], id)
end
-- in parts: Lua unpacks at most 8,000 values, and a script that fails halfway is not undone
local function bytesOf(numbers)
  local parts = {}
  for at = 1, #numbers, 100 do
    local last = math.min(at + 99, #numbers)
    local format = '<' .. string.rep('f', last - at + 1)
    parts[#parts + 1] = struct.pack(format, unpack(numbers, at, last))
  end
  return table.concat(parts)
end
local function rowOf(id, score)
  local text, metadata = redis.call('HGET', KEYS[2], id), redis.call('HGET', KEYS[3], id)
  return { id, text, metadata or '', score or '' }
end`;

/** ARGV: documents, condition of replaced ones or '', its document. Returns the dimensions that other documents have, or 0. */
export const WRITE = `${SHARED}
local given, overwritten, present = cjson.decode(ARGV[1]), {}, {}
for _, each in ipairs(given) do
  overwritten[each.id] = true
  if redis.call('HEXISTS', KEYS[2], each.id) == 1 then present[#present + 1] = each.id end
end
if ARGV[2] ~= '' then
  for _, id in ipairs(selected(conditionOf(ARGV[2]), ARGV[3])) do
    if not overwritten[id] then present[#present + 1] = id end
  end
end
if #given > 0 and redis.call('HLEN', KEYS[2]) > #present then
  local dimensions = redis.call('VDIM', KEYS[1])
  if dimensions ~= #given[1].vector then return dimensions end
end
for _, id in ipairs(present) do remove(id) end
for _, each in ipairs(given) do
  redis.call('VADD', KEYS[1], 'FP32', bytesOf(each.vector), each.id, 'NOQUANT')
  redis.call('HSET', KEYS[2], each.id, each.text)
  redis.call('ZADD', KEYS[4], 0, each.id)
  if each.metadata then redis.call('HSET', KEYS[3], each.id, each.metadata) end
  if each.document then redis.call('ZADD', KEYS[5], 0, each.document .. '\\0' .. each.id) end
end
return 0`;

/**
 * ARGV: vector, number of documents, lowest score, condition or ''. Returns rows, or the dimensions of other vectors.
 * Small sets and the last attempt, for a filter that few documents pass, are compared one by one.
 */
export const SEARCH = `${SHARED}
local vector, wanted, lowest = cjson.decode(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local condition, total = conditionOf(ARGV[4]), redis.call('VCARD', KEYS[1])
if total == 0 then return {} end
local dimensions = redis.call('VDIM', KEYS[1])
if dimensions ~= #vector then return dimensions end
local limit = condition and wanted * 4 or wanted
while true do
  if total <= 1000 or limit > total then limit = total end
  local args = { 'VSIM', KEYS[1], 'FP32', bytesOf(vector), 'WITHSCORES', 'COUNT', limit, 'EF', math.max(200, limit) }
  if limit == total then args[#args + 1] = 'TRUTH' end
  local reply, rows, score = redis.call(unpack(args)), {}, 1
  for at = 1, #reply, 2 do
    score = 2 * tonumber(reply[at + 1]) - 1
    if #rows >= wanted or score < lowest then break end
    if passes(condition, reply[at]) then rows[#rows + 1] = rowOf(reply[at], string.format('%.17g', score)) end
  end
  if #rows >= wanted or score < lowest or limit == total then return rows end
  limit = limit * 8
end`;

/** ARGV: where ids begin, maximum number or -1, '1' for vectors, condition or '', its document. Returns rows. */
export const LIST = `${SHARED}
local start, limit, condition = ARGV[1], tonumber(ARGV[2]), conditionOf(ARGV[4])
local rows, isSelected = {}, nil
if ARGV[5] ~= '' then
  isSelected = {}
  for _, id in ipairs(selected(condition, ARGV[5])) do isSelected[id] = true end
end
while true do
  local ids = redis.call('ZRANGEBYLEX', KEYS[4], start, '+', 'LIMIT', 0, 1000)
  for _, id in ipairs(ids) do
    if limit >= 0 and #rows >= limit then return rows end
    local isWanted = isSelected and isSelected[id]
    if not isSelected then isWanted = passes(condition, id) end
    if isWanted then
      local row = rowOf(id)
      if ARGV[3] == '1' then row[5] = redis.call('VEMB', KEYS[1], id) end
      rows[#rows + 1] = row
    end
  end
  if #ids < 1000 then return rows end
  start = '(' .. ids[#ids]
end`;

/** ARGV: ids or '', condition or '', its document. */
export const REMOVE = `${SHARED}
local ids = ARGV[1] ~= '' and cjson.decode(ARGV[1]) or selected(conditionOf(ARGV[2]), ARGV[3])
for _, id in ipairs(ids) do remove(id) end
return #ids`;

import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { LimitWindow, RateLimiter, RateLimitResult } from '../../ports/rateLimiter.js'
import { checkWindows } from '../cache/rateLimiter.js'
import { type Circuit, messageOf } from './client.js'

interface RedisRateLimiterOptions {
  /** A client from `openRedis`: its timeouts bound each request. Not closed by `close()`. */
  readonly redis: Redis
  /** Used while the circuit is open; closed by `close()`. */
  readonly fallback: RateLimiter
  readonly circuit: Circuit
  readonly keyPrefix?: string
}

// Hash of the used amount and the reset time (Redis clock, ms). A reset beyond one window: the clock was set
// back.
const script = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local used, resetsAt, drawn, refusedBy = {}, {}, {}, 0
for i, key in ipairs(KEYS) do
  local limit, window = tonumber(ARGV[4 * i - 3]), tonumber(ARGV[4 * i - 2])
  local cost, isRefusable = tonumber(ARGV[4 * i - 1]), ARGV[4 * i] == '1'
  if not used[key] then
    local bucket = redis.call('HMGET', key, 'used', 'resetsAt')
    local count, ends = tonumber(bucket[1] or nil), tonumber(bucket[2] or nil)
    if not ends or ends <= now or ends > now + window then count, ends = 0, now + window end
    used[key], resetsAt[key], drawn[key] = count, ends, 0
  end
  if refusedBy == 0 and isRefusable and used[key] + drawn[key] + cost > limit then refusedBy = i end
  drawn[key] = drawn[key] + cost
end
if refusedBy == 0 then
  for key, cost in pairs(drawn) do
    if cost > 0 and used[key] == 0 then
      redis.call('HSET', key, 'used', cost, 'resetsAt', resetsAt[key])
      redis.call('PEXPIREAT', key, resetsAt[key])
    elseif cost > 0 then
      redis.call('HINCRBY', key, 'used', cost)
    end
    used[key] = used[key] + cost
  end
end
local answer = { refusedBy }
for i, key in ipairs(KEYS) do
  answer[2 * i] = math.max(0, tonumber(ARGV[4 * i - 3]) - used[key])
  answer[2 * i + 1] = resetsAt[key]
end
return answer
`
const refundScript = `
for i, key in ipairs(KEYS) do
  local bucket = redis.call('HMGET', key, 'used', 'resetsAt')
  local count, cost = tonumber(bucket[1] or nil), tonumber(ARGV[2 * i])
  if count and bucket[2] == ARGV[2 * i - 1] then
    redis.call('HSET', key, 'used', math.max(0, count - cost))
  end
end
`

const scriptHash = createHash('sha1').update(script).digest('hex')

/** Exact across instances: one atomic script per request. Not for Redis Cluster (keys in different slots). */
export const createRedisRateLimiter = ({
  redis,
  fallback,
  circuit,
  keyPrefix = 'quittance:limits:',
}: RedisRateLimiterOptions): RateLimiter => {
  const keysOf = (windows: readonly LimitWindow[]) =>
    windows.map(({ key, windowMs }) => `${keyPrefix}${windowMs}:${key}`)

  const draw = async (windows: readonly LimitWindow[]): Promise<RateLimitResult> => {
    const keys = keysOf(windows)
    const values = windows.flatMap(({ limit, windowMs, cost = 1, isUnrefusable = false }) => [
      limit,
      windowMs,
      cost,
      isUnrefusable ? 0 : 1,
    ])
    return readAnswer(await evaluate(redis, keys, values), windows.length)
  }

  const takenHere = new WeakSet<RateLimitResult>()
  const takeHere = async (windows: readonly LimitWindow[]): Promise<RateLimitResult> => {
    const result = await fallback.take(windows)
    takenHere.add(result)
    return result
  }

  return {
    async take(windows) {
      checkWindows(windows)
      if (circuit.isOpen()) return takeHere(windows)
      try {
        return await draw(windows)
      } catch (error) {
        circuit.trip(error)
        return takeHere(windows)
      }
    },
    async refund(windows, taken) {
      if (takenHere.has(taken)) return fallback.refund(windows, taken)
      if (circuit.isOpen()) return
      const values = windows.flatMap(({ cost = 1 }, index) => [
        taken.windows[index]?.resetsAt.getTime() ?? 0,
        cost,
      ])
      try {
        await redis.eval(refundScript, windows.length, ...keysOf(windows), ...values)
      } catch (error) {
        circuit.trip(error)
      }
    },
    isDegraded: circuit.isOpen,
    close: () => fallback.close(),
  }
}

// A restart or SCRIPT FLUSH clears the script cache; EVAL fills it again.
const evaluate = async (
  redis: Redis,
  keys: readonly string[],
  values: readonly number[],
): Promise<unknown> => {
  try {
    return await redis.evalsha(scriptHash, keys.length, ...keys, ...values)
  } catch (error) {
    if (!messageOf(error).startsWith('NOSCRIPT')) throw error
    return redis.eval(script, keys.length, ...keys, ...values)
  }
}

const readAnswer = (reply: unknown, windowCount: number): RateLimitResult => {
  const isShaped = Array.isArray(reply) && reply.length === 1 + 2 * windowCount
  const numbers = isShaped ? reply.map(Number) : []
  const [refusedBy, ...states] = numbers
  if (refusedBy === undefined || !numbers.every(Number.isSafeInteger)) {
    throw new Error('Unexpected reply from the rate limit script')
  }
  return {
    isAllowed: refusedBy === 0,
    refusedBy: refusedBy === 0 ? null : refusedBy - 1,
    windows: Array.from({ length: windowCount }, (_, index) => ({
      remaining: states[2 * index] ?? 0,
      resetsAt: new Date(states[2 * index + 1] ?? 0),
    })),
  }
}

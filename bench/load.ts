import { Agent, request as httpRequest } from 'node:http'

/** What one run of a load saw. */
export interface LoadResult {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Answers that were not what the run expects. */
  readonly failures: number
}

/** Sends every body once over a fixed number of connections, as fast as the answers come. */
export const runLoad = async (
  url: string,
  bodies: readonly string[],
  connections: number,
  isExpected: (answer: string) => boolean,
): Promise<LoadResult> => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const waiting = bodies.values()
  const latencies: number[] = []
  let failures = 0
  const begun = performance.now()
  const worker = async () => {
    for (const body of waiting) {
      const sent = performance.now()
      const answer = await post(agent, url, body).catch(() => '')
      latencies.push(performance.now() - sent)
      if (!isExpected(answer)) failures += 1
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  const seconds = (performance.now() - begun) / 1_000
  agent.destroy()
  latencies.sort((left, right) => left - right)
  const at = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0
  return { perSecond: bodies.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99), failures }
}

const post = (agent: Agent, url: string, body: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const request = httpRequest(
      url,
      { method: 'POST', agent, headers: { 'content-type': 'application/json' }, timeout: 60_000 },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          text += chunk
        })
        response.on('end', () => resolve(text))
      },
    )
    request.on('error', reject)
    request.on('timeout', () => request.destroy(new Error('no answer within a minute')))
    request.end(body)
  })

import { pollUntil } from './pollUntil.js'

/**
 * Asks again while the answer is 503: on a busy machine a store or a node misses its deadline, which a client may not take for
 * an outcome. Only for requests that may be sent again.
 */
export const fetchServed = async (url: string, init?: RequestInit): Promise<Response> => {
  let refusal = ''
  return await pollUntil(
    async () => {
      const response = await fetch(url, init)
      if (response.status !== 503) return response
      refusal = `${response.status} ${await response.text()}`
      return null
    },
    `${init?.method ?? 'GET'} ${url} to be served`,
    () => refusal,
  )
}

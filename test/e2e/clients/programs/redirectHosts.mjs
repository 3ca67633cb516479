/**
 * Packages that know one remote host reach the local service or node instead: their requests are answered from there,
 * their code is unmodified. Any other host is refused. Returns whether a package has replaced `fetch` since: pairs of one
 * process would no longer be independent of each other.
 */
export const redirectHosts = ({ facilitatorUrl, evm }) => {
  const { fetch } = globalThis
  const answers = {
    'https://facilitator.payai.network': ({ pathname }, request) =>
      fetch(new Request(`${facilitatorUrl}${pathname}`, request)),
    'https://84532.rpc.thirdweb.com': (_url, request) => fetch(new Request(evm.rpcUrl, request)),
    // Serves the interfaces of verified contracts.
    'https://contract.thirdweb.com': () => Promise.resolve(Response.json(evm.abi)),
  }
  const redirected = (input, init) => {
    const request = new Request(input, init)
    const url = new URL(request.url)
    if (url.hostname === '127.0.0.1') return fetch(input, init)
    const answer = answers[url.origin]
    if (answer === undefined) throw new Error(`${url.origin} has no local answer`)
    return answer(url, request)
  }
  globalThis.fetch = redirected
  return () => globalThis.fetch !== redirected
}

import { patientTimeoutMs } from './rpcProxy.js'

/** Time-outs that a busy machine keeps, of the families for which the variables name endpoints. */
export const patientTimeouts = (environment: Readonly<Record<string, string>>): Record<string, string> => {
  const families = Object.keys(environment).flatMap((name) => /^([A-Z]+)_RPC_URL_/.exec(name)?.[1] ?? [])
  const names = families.flatMap((family) => [
    `${family}_RPC_TIMEOUT_MS`,
    ...(family === 'EVM' ? ['EVM_WALLET_CALL_TIMEOUT_MS'] : []),
  ])
  return Object.fromEntries(names.map((name) => [name, patientTimeoutMs]))
}

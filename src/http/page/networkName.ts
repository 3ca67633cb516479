import { listNetworkAliases } from '../../protocol/network.js'

/** `base-sepolia` becomes `Base Sepolia`, and `tron:nile`, which has no short name, `Tron Nile`. */
export const nameOfNetwork = (network: string): string =>
  (listNetworkAliases(network).find(({ version }) => version === 1)?.name ?? network)
    .replace(/^([a-z]+):(?=[a-z]+$)/, '$1-')
    .split('-')
    .map((word) =>
      /^(ton|evm|xdc|xrpl)$/.test(word)
        ? word.toUpperCase()
        : word.replace(/^./, (first) => first.toUpperCase()),
    )
    .join(' ')

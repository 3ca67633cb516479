/** Of networks that have a public one; `{transaction}` is replaced. */
const templates: Readonly<Record<string, string>> = {
  'eip155:1': 'https://etherscan.io/tx/{transaction}',
  'eip155:11155111': 'https://sepolia.etherscan.io/tx/{transaction}',
  'eip155:8453': 'https://basescan.org/tx/{transaction}',
  'eip155:84532': 'https://sepolia.basescan.org/tx/{transaction}',
  'eip155:10': 'https://optimistic.etherscan.io/tx/{transaction}',
  'eip155:11155420': 'https://sepolia-optimism.etherscan.io/tx/{transaction}',
  'eip155:42161': 'https://arbiscan.io/tx/{transaction}',
  'eip155:421614': 'https://sepolia.arbiscan.io/tx/{transaction}',
  'eip155:137': 'https://polygonscan.com/tx/{transaction}',
  'eip155:80002': 'https://amoy.polygonscan.com/tx/{transaction}',
  'eip155:43114': 'https://snowtrace.io/tx/{transaction}',
  'eip155:43113': 'https://testnet.snowtrace.io/tx/{transaction}',
  'eip155:42220': 'https://celoscan.io/tx/{transaction}',
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': 'https://explorer.solana.com/tx/{transaction}',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': 'https://explorer.solana.com/tx/{transaction}?cluster=devnet',
  'ton:mainnet': 'https://tonviewer.com/transaction/{transaction}',
  'ton:testnet': 'https://testnet.tonviewer.com/transaction/{transaction}',
  'tron:mainnet': 'https://tronscan.org/#/transaction/{transaction}',
  'tron:nile': 'https://nile.tronscan.org/#/transaction/{transaction}',
}

/** The explorers that the console links to. */
export const explorerHosts: ReadonlySet<string> = new Set(
  Object.values(templates).map((template) => new URL(template).host),
)

// Hex, base58 and base64 of hashes and signatures.
const transactionForm = /^[A-Za-z0-9+/=_-]{16,128}$/

/** Null: the network has no known explorer, or the text is no transaction hash. */
export const findExplorerLink = (network: string, transaction: string): string | null => {
  const template = Object.hasOwn(templates, network) ? templates[network] : undefined
  if (template === undefined || !transactionForm.test(transaction)) return null
  return allowLink(template.replace('{transaction}', encodeURIComponent(transaction)))
}

/** Null unless a link leads to one of the explorers, by HTTPS: nothing that a server or a payer wrote becomes another link. */
export const allowLink = (url: string): string | null => {
  if (!URL.canParse(url)) return null
  const { protocol, host, username, href } = new URL(url)
  return protocol === 'https:' && username === '' && explorerHosts.has(host) ? href : null
}

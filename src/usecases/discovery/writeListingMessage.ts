/** Text that a recipient signs to unlist or relist a resource. */
export const writeListingMessage = ({
  action,
  id,
  key,
  issuedAt,
}: {
  readonly action: 'unlist' | 'relist'
  readonly id: string
  readonly key: { readonly url: string; readonly toolName: string }
  /** As sent. */
  readonly issuedAt: string
}): string =>
  [
    `quittance discovery: ${action}`,
    `Resource: ${id}`,
    `URL: ${key.url}`,
    ...(key.toolName === '' ? [] : [`Tool: ${key.toolName}`]),
    `Issued At: ${issuedAt}`,
  ].join('\n')

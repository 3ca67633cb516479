// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @dev EIP-2612, the form of `permit` that Circle's FiatToken added, and the transfer of ERC-20.
interface IPermitToken {
    function nonces(address owner) external view returns (uint256);
    function DOMAIN_SEPARATOR() external view returns (bytes32);
    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external;
    function permit(address owner, address spender, uint256 value, uint256 deadline, bytes calldata signature) external;
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

interface IERC1271 {
    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4);
}

/// The token returned something else than true.
error TransferFailed(address token);

/// @dev Accepts tokens that return nothing; an error of the token is passed on. The caller knows that the token has code.
function transferToken(address token, address owner, address to, uint256 amount) {
    (bool isDone, bytes memory result) = token.call(abi.encodeCall(IPermitToken.transferFrom, (owner, to, amount)));
    if (!isDone) passOn(result);
    if (result.length > 0 && bytes32(result) != bytes32(uint256(1))) revert TransferFailed(token);
}

/// @dev Reverts with the error of a call.
function passOn(bytes memory result) pure {
    assembly ("memory-safe") {
        revert(add(result, 32), mload(result))
    }
}

/// @title Settles usage-based payments: transfers at most what a payer permitted, once for each permit
/// @notice The payer signs an EIP-2612 permit of a maximum. A facilitator later settles it with the amount that was used.
///
/// Whom a permit names as `spender` decides what it permits:
///
///   this router             a facilitator chooses the recipient
///   `routerOf(recipient)`   tokens can reach that recipient only, whatever a facilitator does
///
/// The facilitators are fixed at deployment. No owner, no upgrade; accepts no native coin. The router and the routers of
/// recipients never hold tokens: what is sent to their addresses is lost.
///
/// What a settlement leaves of an allowance can be moved only by another permit that the payer signed: each transfer needs
/// a signature, and `nextNonce` allows each permit one settlement.
contract UptoRouter {
    struct Payment {
        address token;
        address owner;
        address to;
        uint256 maxAmount; // the permit's value
        uint256 amount; // 0 uses the permit up and transfers nothing
        uint256 deadline;
        uint256 permitNonce;
        bytes32 paymentNonce; // not signed; only reported
        bool isBound; // the permit's spender is routerOf(to), otherwise this router
        bytes signature; // of an account: r, s, v; of a contract: what it accepts (EIP-1271)
    }

    struct Call {
        address target;
        bytes32 id; // reported by Executed when the call succeeds; 0: not reported
        bytes data;
    }

    event Settled(
        address indexed token,
        address indexed owner,
        bytes32 indexed paymentNonce,
        address to,
        uint256 amount,
        uint256 permitNonce,
        address spender
    );

    /// The call did not revert. This proves a payment only where the target is known to revert without one.
    event Executed(bytes32 indexed id);

    error InvalidFacilitators();
    error UnsupportedChain();
    error NotFacilitator(address caller);
    error PermitExpired(uint256 deadline);
    error AmountAboveMaximum(uint256 amount, uint256 maxAmount);
    error InvalidRecipient(address to);
    /// This permit, or a later one of the same owner for the same spender, was settled.
    error PermitAlreadySettled(uint256 nextNonce);
    /// The token expects an earlier permit of this owner first.
    error PermitNonceMismatch(uint256 tokenNonce);
    /// The token accepted the call of `permit` and did not use the nonce.
    error PermitNotApplied();
    error InvalidPermitSignature();
    error RouterNotDeployed(address router);
    error ForbiddenCall(address target, bytes4 selector);
    error NoCode(address target);
    error TooManyCalls(uint256 count);

    bytes32 private constant PERMIT_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
    uint256 private constant HALF_CURVE_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    // What `execute` may call besides this router's `settle`.
    bytes4 private constant TRANSFER_BY_VRS = bytes4(
        keccak256("transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)")
    );
    bytes4 private constant TRANSFER_BY_BYTES =
        bytes4(keccak256("transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)"));
    address private constant EXACT_PROXY = 0x402085c248EeA27D92E8b30b2C58ed07f9E20001;
    bytes4 private constant EXACT_SETTLE =
        bytes4(keccak256("settle(((address,uint256),uint256,uint256),address,(address,uint256),bytes)"));
    bytes4 private constant EXACT_SETTLE_WITH_PERMIT = bytes4(
        keccak256(
            "settleWithPermit((uint256,uint256,bytes32,bytes32,uint8),((address,uint256),uint256,uint256),address,(address,uint256),bytes)"
        )
    );
    address private constant UPTO_PROXY = 0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002;
    bytes4 private constant UPTO_SETTLE =
        bytes4(keccak256("settle(((address,uint256),uint256,uint256),uint256,address,(address,address,uint256),bytes)"));
    bytes4 private constant UPTO_SETTLE_WITH_PERMIT = bytes4(
        keccak256(
            "settleWithPermit((uint256,uint256,bytes32,bytes32,uint8),((address,uint256),uint256,uint256),uint256,address,(address,address,uint256),bytes)"
        )
    );

    mapping(address account => bool) public isFacilitator;

    /// @notice The lowest permit nonce of an owner that can still be settled, by spender and token
    mapping(address spender => mapping(address token => mapping(address owner => uint256))) public nextNonce;

    modifier onlyFacilitator() {
        if (!isFacilitator[msg.sender]) revert NotFacilitator(msg.sender);
        _;
    }

    /// @param facilitators at least one, ascending without repetition, so that a set of accounts has one address
    constructor(address[] memory facilitators) {
        if (facilitators.length == 0) revert InvalidFacilitators();
        address last = address(0);
        for (uint256 index = 0; index < facilitators.length; ++index) {
            address next = facilitators[index];
            if (next <= last) revert InvalidFacilitators();
            isFacilitator[next] = true;
            last = next;
        }
        // The first contract that this one creates: CREATE with nonce 1.
        if (address(new RecipientRouter()) != _implementation()) revert UnsupportedChain();
    }

    /// @notice Transfers what was used of a permit. Callable by facilitators, and by this router for them
    function settle(Payment calldata payment) external {
        if (msg.sender != address(this) && !isFacilitator[msg.sender]) revert NotFacilitator(msg.sender);
        if (block.timestamp > payment.deadline) revert PermitExpired(payment.deadline);
        if (payment.amount > payment.maxAmount) revert AmountAboveMaximum(payment.amount, payment.maxAmount);
        if (payment.to == address(0) || payment.to == address(this)) revert InvalidRecipient(payment.to);
        address spender = payment.isBound ? routerOf(payment.to) : address(this);

        // Before any other contract is called.
        uint256 lowest = nextNonce[spender][payment.token][payment.owner];
        if (payment.permitNonce < lowest) revert PermitAlreadySettled(lowest);
        nextNonce[spender][payment.token][payment.owner] = payment.permitNonce + 1;

        _usePermit(payment, spender);
        if (payment.amount > 0) {
            if (payment.isBound) {
                if (spender.code.length == 0) _deployRouterOf(payment.to, spender);
                RecipientRouter(spender).pull(payment.token, payment.owner, payment.amount);
            } else {
                transferToken(payment.token, payment.owner, payment.to, payment.amount);
            }
        }
        emit Settled(
            payment.token,
            payment.owner,
            payment.paymentNonce,
            payment.to,
            payment.amount,
            payment.permitNonce,
            spender
        );
    }

    /// @notice Makes one call; its error is passed on
    function executeOne(Call calldata call) external onlyFacilitator {
        _requireAllowed(call.target, call.data);
        if (call.target.code.length == 0) revert NoCode(call.target);
        (bool isDone, bytes memory result) = call.target.call(call.data);
        if (!isDone) passOn(result);
        if (call.id != 0) emit Executed(call.id);
    }

    /// @notice Makes at most 255 calls. One that fails does not affect the others; one that is forbidden undoes all
    /// @return executed bit i is set when call i did not revert
    function execute(Call[] calldata calls) external onlyFacilitator returns (uint256 executed) {
        uint256 count = calls.length;
        if (count > 255) revert TooManyCalls(count);
        for (uint256 index = 0; index < count; ++index) {
            Call calldata call = calls[index];
            _requireAllowed(call.target, call.data);
            // A call without code would succeed.
            if (call.target.code.length == 0 || !_tryCall(call.target, call.data, count - index)) continue;
            executed |= 1 << index;
            if (call.id != 0) emit Executed(call.id);
        }
    }

    /// @notice The spender of permits that can pay `recipient` only; deployed by the first settlement that needs it
    /// @dev CREATE2 by this router, with the recipient as salt
    function routerOf(address recipient) public view returns (address) {
        bytes32 codeHash = keccak256(_creationCodeOf(recipient));
        bytes32 hash = keccak256(abi.encodePacked(hex"ff", address(this), _saltOf(recipient), codeHash));
        return address(uint160(uint256(hash)));
    }

    /// @dev Afterwards the permit's nonce is used and the owner's signature of it is proven, by the token or here.
    function _usePermit(Payment calldata payment, address spender) private {
        IPermitToken token = IPermitToken(payment.token);
        uint256 tokenNonce = token.nonces(payment.owner);
        if (tokenNonce < payment.permitNonce) revert PermitNonceMismatch(tokenNonce);
        if (tokenNonce > payment.permitNonce) {
            // Anyone may submit a permit. The allowance that stands, if any, is what the settlement can use.
            if (!_isSigned(payment, spender)) revert InvalidPermitSignature();
            return;
        }
        bytes calldata signature = payment.signature;
        if (signature.length == 65) {
            token.permit(
                payment.owner,
                spender,
                payment.maxAmount,
                payment.deadline,
                uint8(signature[64]),
                bytes32(signature[0:32]),
                bytes32(signature[32:64])
            );
        } else {
            token.permit(payment.owner, spender, payment.maxAmount, payment.deadline, signature);
        }
        // Otherwise an allowance of an earlier permit could be moved without this signature.
        if (token.nonces(payment.owner) != payment.permitNonce + 1) revert PermitNotApplied();
    }

    /// @dev By the account's key, which tokens accept from accounts with code too, or by its code.
    function _isSigned(Payment calldata payment, address spender) private view returns (bool) {
        address owner = payment.owner;
        bytes calldata signature = payment.signature;
        bytes32 permit = keccak256(
            abi.encode(
                PERMIT_TYPEHASH, owner, spender, payment.maxAmount, payment.permitNonce, payment.deadline
            )
        );
        bytes32 digest =
            keccak256(abi.encodePacked(hex"1901", IPermitToken(payment.token).DOMAIN_SEPARATOR(), permit));
        if (signature.length == 65 && uint256(bytes32(signature[32:64])) <= HALF_CURVE_ORDER) {
            address signer =
                ecrecover(digest, uint8(signature[64]), bytes32(signature[0:32]), bytes32(signature[32:64]));
            if (signer != address(0) && signer == owner) return true;
        }
        if (owner.code.length == 0) return false;
        (bool isDone, bytes memory result) =
            owner.staticcall(abi.encodeCall(IERC1271.isValidSignature, (digest, signature)));
        return isDone && result.length >= 32 && bytes32(result) == bytes32(IERC1271.isValidSignature.selector);
    }

    function _requireAllowed(address target, bytes calldata data) private view {
        bytes4 selector = bytes4(data);
        if (selector == TRANSFER_BY_VRS || selector == TRANSFER_BY_BYTES) return;
        if (target == address(this) && selector == this.settle.selector) return;
        if (target == EXACT_PROXY && (selector == EXACT_SETTLE || selector == EXACT_SETTLE_WITH_PERMIT)) return;
        if (target == UPTO_PROXY && (selector == UPTO_SETTLE || selector == UPTO_SETTLE_WITH_PERMIT)) return;
        revert ForbiddenCall(target, selector);
    }

    /// @dev An equal share of the gas that remains: what one call burns was its own. The reserve ends the loop.
    function _tryCall(address target, bytes calldata data, uint256 callsLeft) private returns (bool isDone) {
        assembly ("memory-safe") {
            // Beyond the free memory pointer, which does not move: the next call overwrites it.
            let at := mload(0x40)
            calldatacopy(at, data.offset, data.length)
            let share := gas()
            switch gt(share, 5000)
            case 0 { share := 0 }
            default { share := div(sub(share, 5000), callsLeft) }
            // No return data is copied, whatever its size.
            isDone := call(share, target, 0, at, data.length, 0, 0)
        }
    }

    function _deployRouterOf(address recipient, address expected) private {
        bytes memory code = _creationCodeOf(recipient);
        bytes32 salt = _saltOf(recipient);
        address deployed;
        assembly ("memory-safe") {
            deployed := create2(0, add(code, 32), mload(code), salt)
        }
        if (deployed != expected) revert RouterNotDeployed(expected);
    }

    function _saltOf(address recipient) private pure returns (bytes32) {
        return bytes32(uint256(uint160(recipient)));
    }

    /// @dev A clone (EIP-1167) of RecipientRouter, followed by the recipient: OpenZeppelin's layout of immutable arguments.
    function _creationCodeOf(address recipient) private view returns (bytes memory) {
        return abi.encodePacked(
            hex"6100413d81600a3d39f3363d3d373d3d3d363d73",
            _implementation(),
            hex"5af43d82803e903d91602b57fd5bf3",
            recipient
        );
    }

    /// @dev The RecipientRouter that the constructor created; its address is derived, because that costs less than a read of storage.
    function _implementation() private view returns (address) {
        return address(uint160(uint256(keccak256(abi.encodePacked(hex"d694", address(this), hex"01")))));
    }
}

/// @title The spender of permits for one recipient
/// @notice Each recipient has a clone of this code, at `UptoRouter.routerOf`; the recipient is the end of the clone's code.
contract RecipientRouter {
    error NotRouter(address caller);

    address private immutable ROUTER = msg.sender;

    /// @notice Transfers to the clone's recipient, which no argument names
    function pull(address token, address owner, uint256 amount) external {
        if (msg.sender != ROUTER) revert NotRouter(msg.sender);
        address recipient;
        assembly ("memory-safe") {
            // 20 bytes after the 45 of a clone.
            mstore(0, 0)
            extcodecopy(address(), 12, 45, 20)
            recipient := mload(0)
        }
        transferToken(token, owner, recipient, amount);
    }
}

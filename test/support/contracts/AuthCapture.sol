// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {LibClone} from "solady/src/utils/LibClone.sol";
import {IERC20, IReceiver3009, Strictly} from "./BatchSettlement.sol";
import {ISignatureTransfer} from "./Permit2.sol";

struct PaymentInfo {
    address operator;
    address payer;
    address receiver;
    address token;
    uint120 maxAmount;
    uint48 preApprovalExpiry;
    uint48 authorizationExpiry;
    uint48 refundExpiry;
    uint16 minFeeBps;
    uint16 maxFeeBps;
    address feeReceiver;
    uint256 salt;
}

enum CollectorType {
    Payment,
    Refund
}

interface ITokenCollector {
    function collectorType() external view returns (CollectorType);
    function collectTokens(
        PaymentInfo calldata paymentInfo,
        address tokenStore,
        uint256 amount,
        bytes calldata collectorData
    ) external;
}

interface IMulticall3 {
    struct Call {
        address target;
        bytes callData;
    }

    function tryAggregate(bool requireSuccess, Call[] calldata calls) external;
}

/// @notice Holds the tokens of one operator's payments.
contract TokenStore {
    error OnlyAuthCaptureEscrow();

    address public immutable authCaptureEscrow;

    constructor(address escrow) {
        authCaptureEscrow = escrow;
    }

    function sendTokens(address token, address recipient, uint256 amount) external returns (bool) {
        if (msg.sender != authCaptureEscrow) revert OnlyAuthCaptureEscrow();
        Strictly.transfer(token, recipient, amount);
        return true;
    }
}

/// @notice The interface, errors, events and rules that both published versions of the escrow share.
/// @dev The published constructor deploys the token store; here tests place it, because placed code has no constructor.
abstract contract AuthCaptureEscrow {
    struct PaymentState {
        bool hasCollectedPayment;
        uint120 capturableAmount;
        uint120 refundableAmount;
    }

    error InvalidSender(address sender, address expected);
    error ZeroAmount();
    error AmountOverflow(uint256 amount, uint256 limit);
    error ExceedsMaxAmount(uint256 amount, uint256 maxAmount);
    error AfterPreApprovalExpiry(uint48 timestamp, uint48 expiry);
    error InvalidExpiries(uint48 preApproval, uint48 authorization, uint48 refund);
    error FeeBpsOverflow(uint16 feeBps);
    error InvalidFeeBpsRange(uint16 minFeeBps, uint16 maxFeeBps);
    error ZeroFeeReceiver();
    error InvalidFeeReceiver(address attempted, address expected);
    error InvalidCollectorForOperation();
    error TokenCollectionFailed();
    error PaymentAlreadyCollected(bytes32 paymentInfoHash);
    error AfterAuthorizationExpiry(uint48 timestamp, uint48 expiry);
    error InsufficientAuthorization(bytes32 paymentInfoHash, uint256 authorizedAmount, uint256 requestedAmount);
    error ZeroAuthorization(bytes32 paymentInfoHash);
    error BeforeAuthorizationExpiry(uint48 timestamp, uint48 expiry);
    error AfterRefundExpiry(uint48 timestamp, uint48 expiry);
    error RefundExceedsCapture(uint256 refund, uint256 captured);
    error Reentrancy();

    event PaymentAuthorized(
        bytes32 indexed paymentInfoHash, PaymentInfo paymentInfo, uint256 amount, address tokenCollector
    );
    event PaymentVoided(bytes32 indexed paymentInfoHash, uint256 amount);
    event PaymentReclaimed(bytes32 indexed paymentInfoHash, uint256 amount);
    event PaymentRefunded(bytes32 indexed paymentInfoHash, uint256 amount, address tokenCollector);
    event TokenStoreCreated(address indexed operator, address tokenStore);

    bytes32 public constant PAYMENT_INFO_TYPEHASH = keccak256(
        "PaymentInfo(address operator,address payer,address receiver,address token,uint120 maxAmount,uint48 preApprovalExpiry,uint48 authorizationExpiry,uint48 refundExpiry,uint16 minFeeBps,uint16 maxFeeBps,address feeReceiver,uint256 salt)"
    );

    address public immutable tokenStoreImplementation;
    mapping(bytes32 => PaymentState) public paymentState;
    bool private transient isEntered;

    constructor(address implementation) {
        tokenStoreImplementation = implementation;
    }

    modifier nonReentrant() {
        if (isEntered) revert Reentrancy();
        isEntered = true;
        _;
        isEntered = false;
    }

    modifier onlySender(address expected) {
        if (msg.sender != expected) revert InvalidSender(msg.sender, expected);
        _;
    }

    modifier validAmount(uint256 amount) {
        if (amount == 0) revert ZeroAmount();
        if (amount > type(uint120).max) revert AmountOverflow(amount, type(uint120).max);
        _;
    }

    function authorize(
        PaymentInfo calldata paymentInfo,
        uint256 amount,
        address tokenCollector,
        bytes calldata collectorData
    ) external nonReentrant onlySender(paymentInfo.operator) validAmount(amount) {
        _checkPayment(paymentInfo, amount);
        bytes32 hash = _open(paymentInfo);
        paymentState[hash] = PaymentState(true, uint120(amount), 0);
        emit PaymentAuthorized(hash, paymentInfo, amount, tokenCollector);
        _collect(paymentInfo, amount, tokenCollector, collectorData, CollectorType.Payment);
    }

    function void(PaymentInfo calldata paymentInfo) external nonReentrant onlySender(paymentInfo.operator) {
        (bytes32 hash, uint256 amount) = _release(paymentInfo);
        emit PaymentVoided(hash, amount);
        _send(paymentInfo.operator, paymentInfo.token, paymentInfo.payer, amount);
    }

    function reclaim(PaymentInfo calldata paymentInfo) external nonReentrant onlySender(paymentInfo.payer) {
        if (block.timestamp < paymentInfo.authorizationExpiry) {
            revert BeforeAuthorizationExpiry(uint48(block.timestamp), paymentInfo.authorizationExpiry);
        }
        (bytes32 hash, uint256 amount) = _release(paymentInfo);
        emit PaymentReclaimed(hash, amount);
        _send(paymentInfo.operator, paymentInfo.token, paymentInfo.payer, amount);
    }

    function refund(
        PaymentInfo calldata paymentInfo,
        uint256 amount,
        address tokenCollector,
        bytes calldata collectorData
    ) external nonReentrant onlySender(paymentInfo.operator) validAmount(amount) {
        if (block.timestamp >= paymentInfo.refundExpiry) {
            revert AfterRefundExpiry(uint48(block.timestamp), paymentInfo.refundExpiry);
        }
        bytes32 hash = getHash(paymentInfo);
        uint120 captured = paymentState[hash].refundableAmount;
        if (amount > captured) revert RefundExceedsCapture(amount, captured);
        paymentState[hash].refundableAmount = captured - uint120(amount);
        emit PaymentRefunded(hash, amount, tokenCollector);
        _collect(paymentInfo, amount, tokenCollector, collectorData, CollectorType.Refund);
        _send(paymentInfo.operator, paymentInfo.token, paymentInfo.payer, amount);
    }

    function getHash(PaymentInfo calldata paymentInfo) public view returns (bytes32) {
        bytes32 terms = keccak256(abi.encode(PAYMENT_INFO_TYPEHASH, paymentInfo));
        return keccak256(abi.encode(block.chainid, address(this), terms));
    }

    function getTokenStore(address operator) public view returns (address) {
        return LibClone.predictDeterministicAddress(
            tokenStoreImplementation, bytes32(bytes20(operator)), address(this)
        );
    }

    function _checkPayment(PaymentInfo calldata info, uint256 amount) internal view {
        uint48 time = uint48(block.timestamp);
        if (amount > info.maxAmount) revert ExceedsMaxAmount(amount, info.maxAmount);
        if (time >= info.preApprovalExpiry) revert AfterPreApprovalExpiry(time, info.preApprovalExpiry);
        bool isOrdered =
            info.preApprovalExpiry <= info.authorizationExpiry && info.authorizationExpiry <= info.refundExpiry;
        if (!isOrdered) revert InvalidExpiries(info.preApprovalExpiry, info.authorizationExpiry, info.refundExpiry);
        if (info.maxFeeBps > 10_000) revert FeeBpsOverflow(info.maxFeeBps);
        if (info.minFeeBps > info.maxFeeBps) revert InvalidFeeBpsRange(info.minFeeBps, info.maxFeeBps);
    }

    function _checkFeeReceiver(PaymentInfo calldata info, uint256 fee, address feeReceiver) internal pure {
        if (fee > 0 && feeReceiver == address(0)) revert ZeroFeeReceiver();
        if (info.feeReceiver != address(0) && info.feeReceiver != feeReceiver) {
            revert InvalidFeeReceiver(feeReceiver, info.feeReceiver);
        }
    }

    function _open(PaymentInfo calldata info) internal view returns (bytes32 hash) {
        hash = getHash(info);
        if (paymentState[hash].hasCollectedPayment) revert PaymentAlreadyCollected(hash);
    }

    /// @dev What is captured may be refunded.
    function _capture(PaymentInfo calldata info, uint256 amount) internal returns (bytes32 hash) {
        if (block.timestamp >= info.authorizationExpiry) {
            revert AfterAuthorizationExpiry(uint48(block.timestamp), info.authorizationExpiry);
        }
        hash = getHash(info);
        PaymentState storage state = paymentState[hash];
        if (amount > state.capturableAmount) revert InsufficientAuthorization(hash, state.capturableAmount, amount);
        state.capturableAmount -= uint120(amount);
        state.refundableAmount += uint120(amount);
    }

    function _release(PaymentInfo calldata info) private returns (bytes32 hash, uint256 amount) {
        hash = getHash(info);
        amount = paymentState[hash].capturableAmount;
        if (amount == 0) revert ZeroAuthorization(hash);
        paymentState[hash].capturableAmount = 0;
    }

    function _collect(
        PaymentInfo calldata info,
        uint256 amount,
        address collector,
        bytes calldata collectorData,
        CollectorType expected
    ) internal {
        if (ITokenCollector(collector).collectorType() != expected) revert InvalidCollectorForOperation();
        address store = getTokenStore(info.operator);
        uint256 before = IERC20(info.token).balanceOf(store);
        ITokenCollector(collector).collectTokens(info, store, amount, collectorData);
        if (IERC20(info.token).balanceOf(store) != before + amount) revert TokenCollectionFailed();
    }

    function _distribute(PaymentInfo calldata info, uint256 amount, uint256 fee, address feeReceiver) internal {
        if (fee > 0) _send(info.operator, info.token, feeReceiver, fee);
        if (amount > fee) _send(info.operator, info.token, info.receiver, amount - fee);
    }

    /// @dev A store's address receives tokens before its code exists; the first payout deploys it.
    function _send(address operator, address token, address recipient, uint256 amount) internal {
        address store = getTokenStore(operator);
        if (store.code.length == 0) {
            LibClone.cloneDeterministic(tokenStoreImplementation, bytes32(bytes20(operator)));
            emit TokenStoreCreated(operator, store);
        }
        TokenStore(store).sendTokens(token, recipient, amount);
    }
}

/// @notice Version 1.0: the operator states a rate, and the fee rounds down.
contract AuthCaptureEscrowV10 is AuthCaptureEscrow {
    error FeeBpsOutOfRange(uint16 feeBps, uint16 minFeeBps, uint16 maxFeeBps);

    event PaymentCharged(
        bytes32 indexed paymentInfoHash,
        PaymentInfo paymentInfo,
        uint256 amount,
        address tokenCollector,
        uint16 feeBps,
        address feeReceiver
    );
    event PaymentCaptured(bytes32 indexed paymentInfoHash, uint256 amount, uint16 feeBps, address feeReceiver);

    constructor(address implementation) AuthCaptureEscrow(implementation) {}

    function charge(
        PaymentInfo calldata paymentInfo,
        uint256 amount,
        address tokenCollector,
        bytes calldata collectorData,
        uint16 feeBps,
        address feeReceiver
    ) external nonReentrant onlySender(paymentInfo.operator) validAmount(amount) {
        _checkPayment(paymentInfo, amount);
        _checkFee(paymentInfo, feeBps, feeReceiver);
        bytes32 hash = _open(paymentInfo);
        paymentState[hash] = PaymentState(true, 0, uint120(amount));
        emit PaymentCharged(hash, paymentInfo, amount, tokenCollector, feeBps, feeReceiver);
        _collect(paymentInfo, amount, tokenCollector, collectorData, CollectorType.Payment);
        _distribute(paymentInfo, amount, amount * feeBps / 10_000, feeReceiver);
    }

    function capture(PaymentInfo calldata paymentInfo, uint256 amount, uint16 feeBps, address feeReceiver)
        external
        nonReentrant
        onlySender(paymentInfo.operator)
        validAmount(amount)
    {
        _checkFee(paymentInfo, feeBps, feeReceiver);
        bytes32 hash = _capture(paymentInfo, amount);
        emit PaymentCaptured(hash, amount, feeBps, feeReceiver);
        _distribute(paymentInfo, amount, amount * feeBps / 10_000, feeReceiver);
    }

    function _checkFee(PaymentInfo calldata info, uint16 feeBps, address feeReceiver) private pure {
        if (feeBps < info.minFeeBps || feeBps > info.maxFeeBps) {
            revert FeeBpsOutOfRange(feeBps, info.minFeeBps, info.maxFeeBps);
        }
        _checkFeeReceiver(info, feeBps, feeReceiver);
    }
}

/// @notice Version 1.1: the operator states an amount within the signed rates of what is paid; both bounds round down.
contract AuthCaptureEscrowV11 is AuthCaptureEscrow {
    error FeeAmountOutOfRange(uint256 feeAmount, uint256 minFee, uint256 maxFee);

    event PaymentCharged(
        bytes32 indexed paymentInfoHash,
        PaymentInfo paymentInfo,
        uint256 amount,
        address tokenCollector,
        uint256 feeAmount,
        address feeReceiver
    );
    event PaymentCaptured(bytes32 indexed paymentInfoHash, uint256 amount, uint256 feeAmount, address feeReceiver);

    constructor(address implementation) AuthCaptureEscrow(implementation) {}

    function charge(
        PaymentInfo calldata paymentInfo,
        uint256 amount,
        address tokenCollector,
        bytes calldata collectorData,
        uint256 feeAmount,
        address feeReceiver
    ) external nonReentrant onlySender(paymentInfo.operator) validAmount(amount) {
        _checkPayment(paymentInfo, amount);
        _checkFee(paymentInfo, amount, feeAmount, feeReceiver);
        bytes32 hash = _open(paymentInfo);
        paymentState[hash] = PaymentState(true, 0, uint120(amount));
        emit PaymentCharged(hash, paymentInfo, amount, tokenCollector, feeAmount, feeReceiver);
        _collect(paymentInfo, amount, tokenCollector, collectorData, CollectorType.Payment);
        _distribute(paymentInfo, amount, feeAmount, feeReceiver);
    }

    function capture(PaymentInfo calldata paymentInfo, uint256 amount, uint256 feeAmount, address feeReceiver)
        external
        nonReentrant
        onlySender(paymentInfo.operator)
        validAmount(amount)
    {
        _checkFee(paymentInfo, amount, feeAmount, feeReceiver);
        bytes32 hash = _capture(paymentInfo, amount);
        emit PaymentCaptured(hash, amount, feeAmount, feeReceiver);
        _distribute(paymentInfo, amount, feeAmount, feeReceiver);
    }

    function _checkFee(PaymentInfo calldata info, uint256 amount, uint256 fee, address feeReceiver) private pure {
        uint256 least = amount * info.minFeeBps / 10_000;
        uint256 most = amount * info.maxFeeBps / 10_000;
        if (fee < least || fee > most) revert FeeAmountOutOfRange(fee, least, most);
        _checkFeeReceiver(info, fee, feeReceiver);
    }
}

/// @notice Only the escrow may collect.
abstract contract TokenCollector is ITokenCollector {
    error OnlyAuthCaptureEscrow();

    AuthCaptureEscrow public immutable authCaptureEscrow;

    constructor(address escrow) {
        authCaptureEscrow = AuthCaptureEscrow(escrow);
    }

    function collectTokens(
        PaymentInfo calldata paymentInfo,
        address tokenStore,
        uint256 amount,
        bytes calldata collectorData
    ) external {
        if (msg.sender != address(authCaptureEscrow)) revert OnlyAuthCaptureEscrow();
        _collectTokens(paymentInfo, tokenStore, amount, collectorData);
    }

    function _collectTokens(PaymentInfo calldata info, address store, uint256 amount, bytes calldata data)
        internal
        virtual;

    /// @dev The nonce of the payer's signature: the payment's hash without its payer.
    function _nonceOf(PaymentInfo calldata info) internal view returns (bytes32) {
        PaymentInfo memory terms = info;
        terms.payer = address(0);
        return authCaptureEscrow.getHash(terms);
    }
}

/// @notice A collector of what payers signed, also before their wallets are deployed.
abstract contract PaymentCollector is TokenCollector {
    CollectorType public constant collectorType = CollectorType.Payment;
    bytes32 private constant ERC6492_MAGIC = 0x6492649264926492649264926492649264926492649264926492649264926492;

    IMulticall3 public immutable multicall3;

    constructor(address escrow, address multicall) TokenCollector(escrow) {
        multicall3 = IMulticall3(multicall);
    }

    /// @dev ERC-6492: the wallet's deployment runs by Multicall3, never by this contract; its failure is ignored.
    function _prepare(bytes calldata signature) internal returns (bytes memory) {
        uint256 length = signature.length;
        if (length < 32 || bytes32(signature[length - 32:]) != ERC6492_MAGIC) return signature;
        (address target, bytes memory callData, bytes memory inner) =
            abi.decode(signature[:length - 32], (address, bytes, bytes));
        IMulticall3.Call[] memory calls = new IMulticall3.Call[](1);
        calls[0] = IMulticall3.Call(target, callData);
        multicall3.tryAggregate(false, calls);
        return inner;
    }
}

/// @notice Takes the whole maximum, as it was signed, and returns what is above the amount.
contract ERC3009PaymentCollector is PaymentCollector {
    constructor(address escrow, address multicall) PaymentCollector(escrow, multicall) {}

    function _collectTokens(PaymentInfo calldata info, address store, uint256 amount, bytes calldata data)
        internal
        override
    {
        IReceiver3009(info.token).receiveWithAuthorization(
            info.payer,
            address(this),
            info.maxAmount,
            0,
            info.preApprovalExpiry,
            _nonceOf(info),
            _prepare(data)
        );
        if (info.maxAmount > amount) Strictly.transfer(info.token, info.payer, info.maxAmount - amount);
        Strictly.transfer(info.token, store, amount);
    }
}

contract Permit2PaymentCollector is PaymentCollector {
    ISignatureTransfer public immutable permit2;

    constructor(address escrow, address permit2Address, address multicall) PaymentCollector(escrow, multicall) {
        permit2 = ISignatureTransfer(permit2Address);
    }

    function _collectTokens(PaymentInfo calldata info, address store, uint256 amount, bytes calldata data)
        internal
        override
    {
        permit2.permitTransferFrom(
            ISignatureTransfer.PermitTransferFrom(
                ISignatureTransfer.TokenPermissions(info.token, info.maxAmount),
                uint256(_nonceOf(info)),
                info.preApprovalExpiry
            ),
            ISignatureTransfer.SignatureTransferDetails(store, amount),
            info.payer,
            _prepare(data)
        );
    }
}

/// @notice Refunds come out of what the operator allows this contract to take.
contract OperatorRefundCollector is TokenCollector {
    CollectorType public constant collectorType = CollectorType.Refund;

    constructor(address escrow) TokenCollector(escrow) {}

    function _collectTokens(PaymentInfo calldata info, address store, uint256 amount, bytes calldata)
        internal
        override
    {
        Strictly.move(info.token, abi.encodeCall(IERC20.transferFrom, (info.operator, store, amount)));
    }
}
